//! What is given random input, and what must hold for any.

mod archive;
mod corrections;
mod lines;
mod matching;
mod merged;
mod options;
mod packets;
mod profiles;

/// A part of retime that is given bytes.
pub struct Target {
    /// As it is asked for.
    pub name: &'static str,
    /// Small sound inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Hands it an input; panics if a promise is broken, and returns what became of it,
    /// `refused` first if it was.
    pub check: fn(&[u8]) -> String,
}

/// All targets.
pub const TARGETS: [Target; 12] = [
    Target {
        name: "anchor",
        seeds: archive::anchors,
        check: archive::anchor,
    },
    Target {
        name: "definitions",
        seeds: archive::all_definitions,
        check: archive::definitions,
    },
    Target {
        name: "local-definitions",
        seeds: archive::all_local_definitions,
        check: archive::local_definitions,
    },
    Target {
        name: "events",
        seeds: archive::all_events,
        check: archive::events,
    },
    Target {
        name: "rewriting",
        seeds: archive::all_events,
        check: archive::rewriting,
    },
    Target {
        name: "matching",
        seeds: matching::programs,
        check: matching::check,
    },
    Target {
        name: "lines",
        seeds: lines::files,
        check: lines::check,
    },
    Target {
        name: "packets",
        seeds: packets::files,
        check: packets::check,
    },
    Target {
        name: "merged",
        seeds: packets::mergeable,
        check: merged::check,
    },
    Target {
        name: "profiles",
        seeds: profiles::files,
        check: profiles::check,
    },
    Target {
        name: "corrections",
        seeds: corrections::files,
        check: corrections::check,
    },
    Target {
        name: "options",
        seeds: options::command_lines,
        check: options::check,
    },
];
