//! The experiments of the papers on the controlled logical clock, run again.
//!
//! Each module is one experiment: it simulates the program and the clocks of the
//! paper (with `retime_sim`), runs the logical clocks of the library over the
//! trace, and returns its figures. The tests of this crate hold them against
//! the papers with fixed tolerances; [`ALL`] puts them into tables beside the
//! printed figures, with the reason for each difference.
//!
//! ```
//! let ring = &retime_experiments::ALL[0];
//! assert_eq!(ring.name, "ring");
//! let table = (ring.run)()?;
//! // The second message leaves node 0 at 39.368 ms in the thesis.
//! assert_eq!(table.rows[0].printed, "39.368 ms");
//! assert_eq!(table.rows[0].ours, "39.378 ms");
//! # Ok::<(), retime_experiments::Failure>(())
//! ```

pub mod accuracy;
pub mod assumed_delay;
pub mod asymmetry;
pub mod conditions;
pub mod curves;
pub mod features;
pub mod finite_elements;
pub mod global_receive;
mod grid;
pub mod minute;
pub mod pseudo_sync;
pub mod recurrence;
mod reversed;
pub mod ring;
pub mod runaway;
mod script;
pub mod segments;
pub mod set_clocks;
mod simulated;
pub mod strict;
mod table;
pub mod transfer_rates;
pub mod variable_rates;

pub use grid::{Grid, Measured, Watch};
pub use reversed::violated;
pub use simulated::{Failure, Simulated};
pub use table::{Row, Table};

/// An experiment by its name on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// One word.
    pub name: &'static str,
    /// The subject of the experiment in a few words, for a list of all.
    pub about: &'static str,
    /// Runs it.
    pub run: fn() -> Result<Table, Failure>,
}

/// All experiments, in the order in which they are told.
pub const ALL: &[Named] = &[
    Named {
        name: "ring",
        about: "controllers on clocks with a tick of forty message delays",
        run: ring::table,
    },
    Named {
        name: "recurrence",
        about: "controller B converges or oscillates as theorem 10 says",
        run: recurrence::table,
    },
    Named {
        name: "curves",
        about: "how controller B settles or oscillates: figure 5.10",
        run: curves::table,
    },
    Named {
        name: "runaway",
        about: "clocks that run away unless controllers B or C hold them",
        run: runaway::table,
    },
    Named {
        name: "strict",
        about: "controller C where it is too strict",
        run: strict::table,
    },
    Named {
        name: "finite-elements",
        about: "the simulation of 1997: one clock of 20 is wrong by 1000 us",
        run: finite_elements::table,
    },
    Named {
        name: "conditions",
        about: "the same for other lengths, errors, shapes of drift, controllers, ticks",
        run: conditions::table,
    },
    Named {
        name: "minute",
        about: "local intervals in 60 s runs of 16 drifting clocks",
        run: minute::table,
    },
    Named {
        name: "assumed-delay",
        about: "a minimal delay of 0 to twice the true one: what 20 % more does",
        run: assumed_delay::table,
    },
    Named {
        name: "transfer-rates",
        about: "who sends how fast to whom, by an assumed delay of 250, 500, 1000 us",
        run: transfer_rates::table,
    },
    Named {
        name: "set-clocks",
        about: "clocks that are set every second, as on a CRAY T3E",
        run: set_clocks::table,
    },
    Named {
        name: "variable-rates",
        about: "clocks of variable rates that defeat straight lines",
        run: variable_rates::table,
    },
    Named {
        name: "asymmetry",
        about: "true clocks that lines between messages make drift",
        run: asymmetry::table,
    },
    Named {
        name: "global-receive",
        about: "a receive from anybody in physical and in logical time",
        run: global_receive::table,
    },
    Named {
        name: "pseudo-sync",
        about: "Liu's eight hosts: what shifts leave reversed",
        run: pseudo_sync::table,
    },
];

/// Measurements that are not of the papers, and take longer.
pub const MEASURED: &[Measured] = &[
    Measured {
        name: "accuracy",
        about: "how near to the truth each method comes, on traces of many kinds",
        run: accuracy::table,
    },
    Measured {
        name: "features",
        about: "what each method can do, beside the comparison of the thesis",
        run: features::table,
    },
];
