//! A file as those get it who join it with others: the events that communicate, with all that
//! they say, and of the others what holds of them together.
//!
//! ```text
//! file      0 op   1 all-reduce   2 op   3 op   4 kernel   ...      millions
//! extract          0                            1                   thousands, in the same order
//! ```
//!
//! Whoever has the file knows by the same rule which event a number of the extract stands for.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use retime_model::{Operation, packed};
use serde::{Deserialize, Serialize};

use crate::apart::Apart;
use crate::call::Call;
use crate::columns::{Columns, NO_TRACK};
use crate::early::Early;
use crate::header::Header;
use crate::iterations::Iteration;
use crate::profile::{FileRead, FlowEnd, Moved, RequestEvent, Requests, Track, Unseen, Unused};
use crate::spans::Spans;
use crate::xla::Instruction;

/// The extract of a file, as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Extract {
    header: Header,
    of_ranks: Vec<(String, Header)>,
    of_processes: Vec<(String, Header)>,
    rest: [u64; 2],
    is_below_zero: bool,
    pub(crate) times: Times,
    #[serde(with = "packed")]
    on: Vec<u32>,
    tracks: Vec<Track>,
    thread_names: Vec<((String, String), String)>,
    process_names: Vec<(String, String)>,
    calls: Vec<Call>,
    instructions: Vec<Instruction>,
    requests: Vec<(Operation, Requests)>,
    iterations: Vec<Iteration>,
    flows: Vec<FlowEnd>,
    unused: Vec<(String, u32, u64)>,
    repeated: u64,
    says_groups: bool,
    early: Early,
    /// All devices that calls drive.
    pub(crate) driven: Apart,
}

/// The times of the events of an extract.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    #[serde(with = "packed")]
    pub(crate) begins: Vec<u64>,
    #[serde(with = "packed")]
    pub(crate) lengths: Vec<u64>,
    /// The stretches of time of the whole file, once it is known from where its times count.
    pub(crate) spans: Spans,
}

impl Times {
    /// The times of the events of a file that its extract has.
    pub(crate) fn of(columns: &Columns, shown: &[u32]) -> Self {
        let at = |column: &Vec<u64>| {
            let events = shown.iter().filter_map(|&it| column.get(it as usize));
            events.copied().collect()
        };
        Self {
            begins: at(&columns.begins),
            lengths: at(&columns.lengths),
            spans: Spans::default(),
        }
    }

    /// The extract of a file at these times.
    pub(crate) fn of_file(self, file: &FileRead) -> FileRead {
        let unseen = file.unseen.clone().map(|it| Unseen {
            spans: self.spans,
            ..it
        });
        let moved = file.at(Moved {
            begins: self.begins,
            lengths: Some(self.lengths),
        });
        FileRead { unseen, ..moved }
    }
}

/// The events of a file that its extract has, rising: the place of each is its number there.
pub(crate) fn shown(file: &FileRead) -> Vec<u32> {
    let calls = file.calls.iter();
    let calls = calls.chain(file.instructions.iter().map(|it| &it.call));
    let calls = calls.flat_map(|it| std::iter::once(it.event).chain(it.other));
    let requests = file.requests.values().flat_map(|it| &it.events);
    let requests = requests.map(|it| it.event);
    let flows = file.flows.iter().map(|it| it.event);
    let iterations = file.iterations.iter().map(|it| it.event);
    let all = calls.chain(requests).chain(flows).chain(iterations);
    let mut shown: Vec<u32> = all.collect();
    shown.sort_unstable();
    shown.dedup();
    shown
}

/// The numbers of events in an extract.
struct Numbers<'a>(&'a [u32]);

impl Numbers<'_> {
    fn of(&self, event: u32) -> u32 {
        let place = self.0.binary_search(&event);
        place.map_or(NO_TRACK, |it| it as u32)
    }

    fn of_call(&self, call: &Call) -> Call {
        Call {
            event: self.of(call.event),
            other: call.other.map(|it| self.of(it)),
            ..call.clone()
        }
    }
}

impl Extract {
    /// The extract of a file, of which these events are shown.
    pub(crate) fn of(file: &FileRead, shown: &[u32]) -> Self {
        let numbers = Numbers(shown);
        let on = shown.iter().map(|&it| file.columns.track(it));
        let instructions = file.instructions.iter().map(|it| Instruction {
            call: numbers.of_call(&it.call),
            ..it.clone()
        });
        let requests = file.requests.iter().map(|(&operation, it)| {
            let events = it.events.iter().map(|it| RequestEvent {
                event: numbers.of(it.event),
                ..*it
            });
            let requests = Requests {
                events: events.collect(),
                roots: it.roots.clone(),
                have_empty: it.have_empty,
            };
            (operation, requests)
        });
        let iterations = file.iterations.iter().map(|it| Iteration {
            event: numbers.of(it.event),
            ..*it
        });
        let flows = file.flows.iter().map(|it| FlowEnd {
            event: numbers.of(it.event),
            key: it.key.clone(),
            kind: it.kind,
        });
        let threads = file.thread_names.iter();
        let processes = file.process_names.iter();
        let unused = file.unused.iter();
        let of_ranks = file.of_ranks.iter();
        let of_processes = file.of_processes.iter();
        Self {
            header: file.header.clone(),
            of_ranks: of_ranks.map(|it| (it.0.clone(), it.1.clone())).collect(),
            of_processes: of_processes
                .map(|it| (it.0.clone(), it.1.clone()))
                .collect(),
            rest: file.rest,
            is_below_zero: file.is_below_zero,
            times: Times::of(&file.columns, shown),
            on: on.collect(),
            tracks: file.tracks.clone(),
            thread_names: threads.map(|it| (it.0.clone(), it.1.clone())).collect(),
            process_names: processes.map(|it| (it.0.clone(), it.1.clone())).collect(),
            calls: file.calls.iter().map(|it| numbers.of_call(it)).collect(),
            instructions: instructions.collect(),
            requests: requests.collect(),
            iterations: iterations.collect(),
            flows: flows.collect(),
            unused: unused
                .map(|it| (it.kind.to_owned(), it.track, it.events))
                .collect(),
            repeated: file.repeated,
            says_groups: file.says_groups,
            early: file.early(),
            driven: Apart::of(file),
        }
    }

    /// The file, with these events alone, and all devices that calls drive.
    pub(crate) fn into_file(self) -> (FileRead, Apart) {
        let unused = self.unused.into_iter().map(|(kind, track, events)| Unused {
            kind: kept(kind),
            track,
            events,
        });
        let file = FileRead {
            header: self.header,
            of_ranks: self.of_ranks.into_iter().collect(),
            of_processes: self.of_processes.into_iter().collect(),
            rest: self.rest,
            is_below_zero: self.is_below_zero,
            columns: Arc::new(Columns {
                begins: self.times.begins,
                lengths: self.times.lengths,
                tracks: self.on,
                digits: Vec::new(),
            }),
            tracks: self.tracks,
            thread_names: self.thread_names.into_iter().collect(),
            process_names: self.process_names.into_iter().collect(),
            calls: self.calls,
            instructions: self.instructions,
            requests: self.requests.into_iter().collect(),
            iterations: self.iterations,
            flows: self.flows,
            unused: unused.collect(),
            repeated: self.repeated,
            says_groups: self.says_groups,
            unseen: Some(Unseen {
                spans: self.times.spans,
                early: self.early,
            }),
            ..FileRead::default()
        };
        (file, self.driven)
    }
}

/// The words for a kind of events, of which there are few, for as long as anybody may want them.
fn kept(kind: String) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(&*kind) {
        return known;
    }
    let kind: &'static str = kind.leak();
    kept.insert(kind);
    kind
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;
    use crate::call::{On, What};

    fn call(event: u32, other: Option<u32>) -> Call {
        Call {
            event,
            what: What::Collective(Operation::Allreduce),
            signature: "allreduce 4".to_owned(),
            group: None,
            sequence: Some(7),
            members: None,
            nothing_from: None,
            is_empty: false,
            root: None,
            iteration: None,
            counted: None,
            tag: 0,
            other,
            on: On::Stream,
        }
    }

    #[test]
    fn what_communicates_is_extracted_in_order() {
        let file = FileRead {
            columns: Arc::new(Columns {
                begins: vec![5, 10, 20, 30, 40],
                lengths: vec![1, 2, 3, 4, 50],
                tracks: vec![0, 1, 0, 1, 1],
                digits: vec![(1, 1); 5],
            }),
            tracks: vec![Track::default(); 2],
            calls: vec![call(1, None), call(3, Some(2))],
            unused: vec![Unused {
                kind: "lone collective call",
                track: 1,
                events: 3,
            }],
            ..FileRead::default()
        };
        let shown = shown(&file);
        assert_eq!(shown, [1, 2, 3]);
        let mut extract = Extract::of(&file, &shown);
        extract.times.spans = Spans::of(&file.columns, 2);
        let sent = postcard::to_allocvec(&extract).unwrap();
        let (found, driven) = postcard::from_bytes::<Extract>(&sent).unwrap().into_file();
        assert!(driven.is_empty());
        assert_eq!(found.columns.begins, [10, 20, 30]);
        assert_eq!(found.columns.tracks, [1, 0, 1]);
        assert_eq!(found.calls, [call(0, None), call(2, Some(1))]);
        assert_eq!(found.unused, file.unused);
        // Of the events that it lacks it says from when to when they are.
        assert_eq!((found.first(), found.span()), (Some(5), Some((5, 90))));
        assert_eq!((file.first(), file.span()), (Some(5), Some((5, 90))));
        for end in 0..sent.len() {
            assert!(postcard::from_bytes::<Extract>(&sent[..end]).is_err());
        }
    }
}
