//! Events that tell of communication, and that a scan does not take up.
//!
//! They are counted by kind, so that nobody takes a trace for sound of which little
//! was looked at. Of an operation one record counts on each side that has a part in
//! it: of a one-sided operation its start and not its completion, which is recorded
//! at the same place. That communicators and windows are made and freed counts as no
//! communication.
//!
//! What a stream of an accelerator does was launched by its host; each activity
//! counts once, whether a kernel or a copy of memory, which Score-P records as
//! one-sided, unless its launch [could be told](crate::scan::Accelerators).
//!
//! Of some calls there are no records of communication at all; these
//! [count themselves](crate::scan::UnrecordedCalls).

use retime_model::format::{Contents, Reach, Unused};
use retime_otf2::LocationType;
use retime_otf2::schema::event_code as code;

use crate::archive::Archive;
use crate::concluded::Concluded;
use crate::scan::UnrecordedCalls;

/// A kind of communication, by the codes of its events.
struct UnusedKind {
    name: &'static str,
    reach: Reach,
    is_ordered: bool,
    codes: &'static [u8],
}

const KINDS: [UnusedKind; 4] = [
    UnusedKind {
        name: "one-sided operation",
        reach: Reach::Trace,
        // The target takes no part.
        is_ordered: false,
        codes: &[code::RmaPut, code::RmaGet, code::RmaAtomic],
    },
    UnusedKind {
        name: "one-sided lock event",
        reach: Reach::Trace,
        // Who had a lock before whom no record can say, and the target takes no part.
        is_ordered: false,
        codes: &[code::RmaAcquireLock, code::RmaReleaseLock],
    },
    UnusedKind {
        name: "one-sided synchronisation",
        reach: Reach::Trace,
        is_ordered: true,
        codes: &[code::RmaGroupSync, code::RmaSync, code::RmaWaitChange],
    },
    UnusedKind {
        name: "thread team event",
        reach: Reach::Process,
        is_ordered: true,
        // Nothing says which threads these teams had.
        codes: &[code::OmpFork, code::OmpJoin],
    },
];

/// Activities of accelerators: all events of their streams with these codes.
const ON_STREAMS: UnusedKind = UnusedKind {
    name: "accelerator activity",
    reach: Reach::Process,
    is_ordered: true,
    codes: &[
        code::Enter,
        code::CallingContextEnter,
        code::RmaPut,
        code::RmaGet,
        code::RmaAtomic,
    ],
};

/// All kinds that occur in an archive whose locations hold `contents`.
pub(super) fn of(archive: &Archive, contents: &[Contents]) -> Vec<Unused> {
    let on_streams = streams(archive);
    let count = |kind: &UnusedKind, streams: bool| {
        let records = contents.iter().zip(&on_streams).map(|(contents, stream)| {
            if *stream == streams {
                records(contents, kind.codes)
            } else {
                0
            }
        });
        Unused {
            kind: kind.name,
            reach: kind.reach,
            is_ordered: kind.is_ordered,
            records: records.collect(),
        }
    };
    let concluded = archive.concluded.get().map_or(&[][..], Vec::as_slice);
    let without = |mut kind: Unused, looked_at: fn(&Concluded) -> u64| {
        for (records, concluded) in kind.records.iter_mut().zip(concluded) {
            *records = records.saturating_sub(looked_at(concluded));
        }
        kind
    };
    let all = KINDS.iter().map(|kind| {
        let all = count(kind, false);
        if kind.codes.contains(&code::RmaGroupSync) {
            without(all, |it| it.group_syncs)
        } else {
            all
        }
    });
    let activities = without(count(&ON_STREAMS, true), |it| it.launched);
    let all = all.chain(unrecorded(archive)).chain([activities]);
    all.filter(|it| it.records.iter().any(|&records| records > 0))
        .collect()
}

/// Calls that communicated and left no record of it.
fn unrecorded(archive: &Archive) -> [Unused; 2] {
    let concluded = archive.concluded.get().map_or(&[][..], Vec::as_slice);
    let unused = |kind, count: fn(&UnrecordedCalls) -> u64| Unused {
        kind,
        reach: Reach::Trace,
        is_ordered: true,
        records: concluded.iter().map(|it| count(&it.unrecorded)).collect(),
    };
    [
        unused("neighbourhood collective", |it| it.neighbourhood),
        unused("unrecorded start", |it| it.starts),
    ]
}

/// Finds out for each location if it is a stream of an accelerator.
fn streams(archive: &Archive) -> Vec<bool> {
    let definitions = archive.otf2.definitions();
    let locations = archive.description.info.locations.iter();
    let is_stream = locations.map(|it| {
        let location = definitions.locations.get(it.id);
        location.is_some_and(|it| it.kind == LocationType::ACCELERATOR_STREAM)
    });
    is_stream.collect()
}

/// How many events of a location have one of these codes.
fn records(contents: &Contents, codes: &[u8]) -> u64 {
    let kinds = contents.kinds.iter();
    let counted = kinds.filter(|(code, _)| codes.iter().any(|it| u32::from(*it) == *code));
    counted.map(|(_, count)| count).sum()
}
