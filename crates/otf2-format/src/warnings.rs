//! Defects of an archive that do not change a correction.

use retime_model::format::Contents;
use retime_model::plural;
use retime_otf2::{FileKind, schema};

use crate::Archive;

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
    warnings
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
