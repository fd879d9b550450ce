//! The work on a trace, dealt out to processes that send each other messages.
//!
//! Process 0 does what a command asks for, on a trace from [`open`]. The others [`serve`] it:
//! each reads, analyses, and later writes its part of the locations when it is told to.
//!
//! ```text
//!  process 0                                   process 1, 2, ...
//!  open ------------ Open path --------------> opens it, too
//!  read ------------ Scan part, Keep --------> reads the events of its part, keeps the logs
//!    contents <----- Kept --------------------
//!  analyse, solve, ...
//!    announces ----- Step -------------------> takes the same step with its own part:
//!    reduces <------------------------------>  both tell each other what they find
//!  rewrite --------- Write part, its maps ---> writes the files of its part, syncs them
//!    undo <--------- PartUndo ----------------
//!    writes what belongs to no location
//!  verify ---------- Verify -----------------> reads its part of the copy, compares it
//! ```
//!
//! Where one process needs the whole trace, `scan` is `read` with all logs
//! [delivered](Dealt) to process 0.
//!
//! How messages travel is up to a [`Communicator`]: MPI in the command `retime-mpi`,
//! channels between [`threads`] in tests. What a process cannot do is told to process 0,
//! which fails with the same words as if it had tried itself, and names the machine if it is
//! another.
//!
//! | module | concept |
//! |---|---|
//! | `communicator` | processes that send each other bytes |
//! | `threads` | one by threads of a process |
//! | `team` | values as messages, and what is counted of them |
//! | `command` | the requests of process 0, and the answers |
//! | `deal` | which locations each process gets |
//! | `kept` | the logs that a process has read, kept for the analysis |
//! | `all_times` | the times of all events of a part |
//! | `mark` | the test that a path names the same trace in all processes |
//! | `members` | the processes that share a trace |
//! | `dealt` | the trace as process 0 sees it |
//! | `in_files` | a trace whose files lie in the hands of several processes |
//! | `opened` | the one or the other |
//! | `scaled` | how far all are |
//! | `worker` | the other processes |
//! | `usage` | what a process took |

mod all_times;
mod command;
mod communicator;
mod deal;
mod dealt;
mod in_files;
mod kept;
mod mark;
mod members;
mod opened;
mod scaled;
mod team;
mod threads;
mod usage;
mod worker;

pub use communicator::{Communicator, Lost};
pub use dealt::{Dealt, Read, open_in_parts};
pub use opened::open;
pub use team::Team;
pub use threads::threads;
pub use usage::Usage;
pub use worker::serve;
