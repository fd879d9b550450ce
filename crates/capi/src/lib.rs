//! libretime: retime for programs in C, C++ and Fortran.
//!
//! ```text
//! include/retime.h      what C sees, made of the sources below; fortran/retime.f90 over it
//!   |  pointers, texts with a zero at their end
//! border                pointers become references, failures a status and a text; no panic goes on
//!   |
//! commands, study       retime_cli::library: the commands, a trace analysed in memory
//! trace                 what a trace is made of
//! filter                retime_stream::Filter: events in, corrected ones out
//! clock                 retime::clock::PiggybackClock: a clock carried along by a program
//! ```
//!
//! Options are words of the command line and go through the parser of the command, so that the
//! library accepts, refuses, does and reports exactly what the command does.
//! `docs/C-API.md` is the manual for its users.

mod border;
mod clock;
mod commands;
mod failed;
mod filter;
mod report;
mod study;
mod texts;
mod trace;
mod version;
mod watch;

#[cfg(test)]
mod tests {
    /// The header says that a handle goes from thread to thread and is read by several.
    #[test]
    fn handles_can_be_shared_as_the_header_says() {
        fn shared<T: Send + Sync>() {}
        shared::<crate::trace::Trace>();
        shared::<crate::report::Report>();
        shared::<crate::study::Study>();
        shared::<crate::filter::Filter>();
        shared::<crate::clock::Clock>();
    }
}
