//! The command `retime-mpi`: `mpirun -n P retime-mpi correct TRACE -o OUT`.
//!
//! What it does is in `retime_cli::run_shared`; here is what MPI has to do with it, and
//! `retime-mpi measure`, which needs no trace. A process that cannot go on takes all others with it, so that none waits for it.

mod exit;
mod measure;
mod one_node;
mod peers;
mod world;

use std::env;
use std::io::{Write, stderr};
use std::panic;
use std::process::ExitCode;

use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator as _;

use crate::exit::FAILURE;
use crate::world::World;

fn main() -> ExitCode {
    one_node::skip_networks();
    // One thread at a time sends or receives, not always the first.
    let wanted = Threading::Serialized;
    let Some((universe, threading)) = mpi::initialize_with_threading(wanted) else {
        return ExitCode::from(FAILURE);
    };
    if threading < wanted {
        let message = "retime-mpi: this MPI cannot be used by a program with threads; build it so \
                       that it provides MPI_THREAD_SERIALIZED";
        let _ = writeln!(stderr(), "{message}");
        return ExitCode::from(FAILURE);
    }
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |what| {
        report(what);
        SimpleCommunicator::world().abort(i32::from(FAILURE));
    }));
    let code = if env::args_os().nth(1).is_some_and(|it| it == measure::NAME) {
        measure::run(env::args_os().skip(1))
    } else {
        retime_cli::run_shared(Box::new(World::new()), env::args_os())
    };
    drop(universe);
    ExitCode::from(code)
}
