//! Facts about operations that calls state, for tables of them.

use retime_model::format::OperationFacts;
use rustc_hash::FxHashMap;

use crate::call::{Call, What};
use crate::order::{Order, boundaries};
use crate::profile::FileRead;
use crate::sizes;

/// The facts of these events of a track, given by rising number.
pub(crate) fn of_track(file: &FileRead, track: u32, events: &[u32]) -> Vec<OperationFacts> {
    let calls: FxHashMap<u32, &Call> = file.calls.iter().map(|it| (it.event, it)).collect();
    let order = Order::of(&file.columns, file.tracks.len());
    let mut facts = vec![OperationFacts::default(); events.len()];
    let mut wanted = events.iter().zip(&mut facts).peekable();
    let all = boundaries(&file.columns, order.of_track(track as usize));
    for (number, boundary) in (0..).zip(all) {
        let is_wanted = |it: &(&u32, &mut OperationFacts)| *it.0 == number;
        if let Some((_, facts)) = wanted.next_if(is_wanted)
            && let Some(call) = calls.get(&boundary.entry)
        {
            *facts = of_call(call);
        }
    }
    drop(wanted);
    facts
}

fn of_call(call: &Call) -> OperationFacts {
    let What::Collective(_) = call.what else {
        return OperationFacts::default();
    };
    let (kind, bytes) = sizes::of_signature(&call.signature);
    let group = call.group.as_ref().map(|it| it.name.clone());
    OperationFacts {
        kind: Some(kind.to_owned()),
        group: group.filter(|it| !it.is_empty()),
        sequence: call.sequence,
        bytes,
    }
}
