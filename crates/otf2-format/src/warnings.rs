//! Defects of an archive that do not change a correction, and what shows that it is not
//! as it was recorded.

use std::collections::BTreeMap;

use retime_model::format::Contents;
use retime_model::{group_digits, plural};
use retime_otf2::{FileKind, schema};

use crate::archive::Archive;
use crate::scan::{LifeCycles, Twice};

/// In words, for an archive whose locations hold `contents`.
pub(super) fn of(archive: &Archive, contents: &[Contents]) -> Vec<String> {
    let definitions = archive.otf2.definitions();
    let mut warnings = Vec::new();
    if let Some(first) = definitions.defects.first().first() {
        let others = definitions.defects.total() - 1;
        let more = if others > 0 {
            format!(", and {} more", plural(others, "defect"))
        } else {
            String::new()
        };
        warnings.push(format!("definitions: {first}{more}"));
    }
    let wrong = wrong_counts(archive, contents);
    if wrong > 0 {
        warnings.push(format!(
            "definitions: {} with another number of events than recorded",
            plural(wrong, "location")
        ));
    }
    let of_kinds = contents.iter().flat_map(|it| &it.kinds);
    let is_known = |code: u32| {
        let code = u8::try_from(code).ok();
        code.is_some_and(|code| schema::lookup(FileKind::Events, code).is_some())
    };
    let unknown = of_kinds.filter(|(code, _)| !is_known(*code));
    let unknown: u64 = unknown.map(|(_, count)| count).sum();
    if unknown > 0 {
        warnings.push(format!(
            "{} of an unknown type, kept as they are",
            plural(unknown, "event")
        ));
    }
    if definitions.unknown > 0 {
        warnings.push(format!(
            "{} of an unknown type, kept as they are",
            plural(definitions.unknown, "definition")
        ));
    }
    warnings.extend(disagreements(archive));
    warnings.extend(other_ends(archive));
    warnings
}

/// Where the recording says of the same thing once this and once that.
fn disagreements(archive: &Archive) -> Vec<String> {
    let concluded = archive.concluded.get().map_or(&[][..], Vec::as_slice);
    let locations = concluded.iter().map(|it| &it.twice);
    let all = locations.fold(Twice::default(), Twice::add);
    let mut found = Vec::new();
    let mut count = |number: u64, noun: &str, what: &str| {
        if number > 0 {
            found.push(format!("{} {what}", plural(number, noun)));
        }
    };
    count(
        all.unreadable,
        "event",
        "with fields that cannot be read, kept as they are; other tools refuse them",
    );
    count(
        all.misnumbered,
        "chunk",
        "of an event file with other events than its head says",
    );
    count(
        all.regions,
        "location",
        "with other regions left than entered",
    );
    count(all.open_sends, "send", "started and never completed");
    count(
        all.outside,
        "location",
        "with events before or after what the definitions give as the time of the trace",
    );
    // Whether a recorder gives a root to operations that have none is up to it.
    if all.with_root < all.rootless {
        count(
            all.with_root,
            "collective call",
            "with a root that others of its kind do not have",
        );
    }
    if all.without_root < all.rooted {
        count(
            all.without_root,
            "collective call",
            "without a root that others of its kind have",
        );
    }
    if all.sends == all.receives && all.bytes_sent != all.bytes_received {
        found.push(format!(
            "messages that took along {} brought {}",
            plural(all.bytes_sent, "byte"),
            group_digits(all.bytes_received)
        ));
    }
    if all.given != all.got {
        found.push(format!(
            "collective operations were given {} and gave {}",
            plural(all.given, "byte"),
            group_digits(all.got)
        ));
    }
    found
}

/// Warns of processes in which something else has ended than had begun.
fn other_ends(archive: &Archive) -> Vec<String> {
    let concluded = archive.concluded.get().map_or(&[][..], Vec::as_slice);
    let locations = archive.description.info.locations.iter();
    let mut processes = BTreeMap::<usize, LifeCycles>::new();
    for (location, it) in locations.zip(concluded) {
        let process = processes.entry(location.process).or_default();
        *process = process.add(&it.cycles);
    }
    let broken = LifeCycles::broken(processes.values());
    let broken = broken.map(|(count, what)| format!("{} {what}", plural(count, "process")));
    broken.collect()
}

/// How many locations have another number of events than their definitions say.
fn wrong_counts(archive: &Archive, contents: &[Contents]) -> u64 {
    let definitions = archive.otf2.definitions();
    let total = |it: &Contents| it.kinds.iter().map(|(_, count)| count).sum::<u64>();
    let declared = archive.description.info.locations.iter().map(|it| {
        let location = definitions.locations.get(it.id);
        location.map(|location| location.events)
    });
    let both = contents.iter().map(total).zip(declared);
    let wrong = both.filter(|(events, declared)| declared.is_some_and(|it| it != *events));
    wrong.count() as u64
}
