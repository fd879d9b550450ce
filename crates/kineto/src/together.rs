//! Operations that are put together into one kernel.
//!
//! `batch_isend_irecv` of PyTorch, by which pipelines send and receive at once, and its manager for
//! coalescing only note what is asked for. One kernel does all of it, and is launched when the
//! group ends, within a range that says nothing else:
//!
//! ```text
//! record_param_comms   send, to 1              launches nothing
//! record_param_comms   recv, from 3            launches nothing
//! nccl:coalesced
//!   cudaLaunchKernelExC 41246
//!                                ncclDevKernel_SendRecv 41246      on a stream, later
//! ```
//!
//! So the kernel is all that was asked for on that thread before and launched nothing itself. It
//! sends when it has begun, and ends when all has come: of a message its begin is the send, its end
//! the receive. Collectives that are put together are one of which nobody ends before all have
//! begun, if each is one.
//!
//! Source: `startCoalescing`, `endCoalescing` and `pointToPoint` of `ProcessGroupNCCL.cpp`.

use retime_model::Operation;

use crate::call::{Call, What};

/// The calls that a kernel is which does all that was asked for, in that order; none if it does not
/// follow from these what the kernel orders.
pub(crate) fn calls(event: u32, asked: &[&Call]) -> Vec<Call> {
    let of_kernel = |call: &&Call| Call {
        event,
        ..(*call).clone()
    };
    if asked.iter().all(|it| is_message(it)) {
        return asked.iter().map(of_kernel).collect();
    }
    let Some(first) = asked.first() else {
        return Vec::new();
    };
    let are_mutual = asked
        .iter()
        .all(|it| is_mutual(it) && it.group == first.group);
    if !are_mutual {
        return Vec::new();
    }
    let signatures: Vec<&str> = asked.iter().map(|it| &*it.signature).collect();
    vec![Call {
        signature: signatures.join(" + "),
        ..of_kernel(first)
    }]
}

/// True for a send or a receive.
fn is_message(call: &Call) -> bool {
    matches!(call.what, What::Send(_) | What::Receive(_))
}

/// True if nobody ends it before all have begun, whatever its sizes are.
fn is_mutual(call: &Call) -> bool {
    let What::Collective(operation) = call.what else {
        return false;
    };
    matches!(
        operation,
        Operation::Allreduce | Operation::Allgather | Operation::ReduceScatter
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use std::fmt::Write as _;

    use crate::chrome::Chrome;
    use crate::document::Document;
    use crate::matching::{Part, matched};
    use crate::profile::FileRead;

    /// The profile of a rank of two that asks, every 100 us, for operations of these names, each with
    /// further arguments, and puts them together.
    fn profile(rank: u32, steps: u32, asked: &[(&str, String)]) -> FileRead {
        read(&text(rank, steps, asked))
    }

    fn text(rank: u32, steps: u32, asked: &[(&str, String)]) -> String {
        let mut text = format!(
            r#"{{"distributedInfo":{{"rank":{rank},"world_size":2}},"traceEvents":[{{"ph":"M"}}"#
        );
        let mut event = |cat: &str, name: &str, (tid, ts, dur): (u32, u32, u32), args: &str| {
            write!(
                text,
                r#",{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":{tid},"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#
            )
            .unwrap();
        };
        for step in 0..steps {
            let at = 100 * step + rank;
            for (place, (name, more)) in (0..).zip(asked) {
                let args = format!(
                    r#""Collective name":"{name}","In msg nelems":{},"dtype":"Float","Group size":2,
                    "Process Group Name":"0","Process Group Ranks":"[0, 1]"{more}"#,
                    7 + step
                );
                event(
                    "cpu_op",
                    "record_param_comms",
                    (7, at + 2 * place, 1),
                    &args,
                );
            }
            event("user_annotation", "nccl:coalesced", (7, at + 20, 10), "");
            let launch = format!(r#""correlation":{}"#, step + 1_000);
            event(
                "cuda_runtime",
                "cudaLaunchKernelExC",
                (7, at + 25, 2),
                &launch,
            );
            let kernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
            event("kernel", kernel, (20, at + 30, 40), &launch);
        }
        text.push_str("]}");
        text
    }

    fn read(text: &str) -> FileRead {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rank.json");
        std::fs::write(&path, text).unwrap();
        Chrome.read(&path, &()).unwrap()
    }

    /// A send to the other of two ranks, and a receive from it.
    fn both_ways(rank: u32) -> [(&'static str, String); 2] {
        let other = 1 - rank;
        [
            ("send", format!(r#","Dst Rank":{other}"#)),
            ("recv", format!(r#","Src Rank":{other}"#)),
        ]
    }

    #[test]
    fn a_kernel_sends_and_receives_what_was_put_together() {
        let files = [0, 1].map(|rank| profile(rank, 4, &both_ways(rank)));
        let found = matched(&files);
        for (file, joined) in files.iter().zip(&found.joined) {
            assert!(file.unused.is_empty(), "{:?}", file.unused);
            let sends = joined.iter().filter(|it| matches!(it.part, Part::Send(_)));
            assert_eq!((joined.len(), sends.count()), (8, 4));
            // Both are the kernel.
            let (pairs, rest) = joined.as_chunks::<2>();
            assert!(rest.is_empty() && pairs.iter().all(|[one, other]| one.event == other.event));
        }
    }

    #[test]
    fn a_rank_before_all_names_changes_nothing() {
        let asked = [0, 1].map(both_ways);
        let named = |rank: u32| {
            let name = format!(r#""name":"[R{rank}] "#);
            text(rank, 4, &asked[rank as usize]).replace(r#""name":""#, &name)
        };
        let found = matched(&[0, 1].map(|rank| read(&named(rank))));
        let lengths: Vec<usize> = found.joined.iter().map(Vec::len).collect();
        assert_eq!(lengths, [8, 8]);
    }

    /// A call with a kernel of its own, which says what it is, was not put together with those that
    /// are asked for behind it.
    #[test]
    fn what_has_a_kernel_of_its_own_is_not_put_together() {
        let message = |rank: u32| match rank {
            0 => ("send", r#""Src Rank":0,"Dst Rank":1"#),
            _ => ("recv", r#""Src Rank":0,"Dst Rank":1"#),
        };
        for alone in [|_| ("allreduce", ""), message] {
            let profile = |rank| {
                let (name, more) = alone(rank);
                let comma = if more.is_empty() { "" } else { "," };
                let args = format!(
                    r#""Collective name":"{name}","In msg nelems":5,"dtype":"Float","Group size":2,
                    "Process Group Name":"0","Process Group Ranks":"[0, 1]"{comma}{more}"#
                );
                let mut events = String::new();
                for (cat, name, (tid, from, dur), args) in [
                    ("cpu_op", "record_param_comms", (7, 0, 3), args.as_str()),
                    ("cuda_runtime", "cudaLaunchKernelExC", (7, 1, 1), ""),
                    ("kernel", "ncclDevKernel_AllReduce()", (21, 4, 7), &args),
                ] {
                    let comma = if args.is_empty() { "" } else { "," };
                    write!(
                        events,
                        r#",{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":{tid},"ts":{},"dur":{dur},
                        "args":{{"correlation":900{comma}{args}}}}}"#,
                        from + i64::from(rank) - 20,
                    )
                    .unwrap();
                }
                let asked = text(rank, 1, &both_ways(rank));
                read(&asked.replacen(r#"{"ph":"M"}"#, &format!(r#"{{"ph":"M"}}{events}"#), 1))
            };
            let calls = [0, 1].map(|rank| profile(rank).calls.len());
            assert_eq!(calls, [3, 3], "{:?}", alone(0));
        }
    }

    #[test]
    fn an_end_of_a_kernel_is_one_message_alone() {
        let twice = |rank| [both_ways(rank), both_ways(rank)].concat();
        let files = [0, 1].map(|rank| profile(rank, 3, &twice(rank)));
        let found = matched(&files);
        for (joined, unmatched) in found.joined.iter().zip(&found.unmatched) {
            assert_eq!(joined.len(), 6);
            assert_eq!(unmatched.get("ambiguous message call"), Some(&6));
        }
    }

    #[test]
    fn collectives_are_put_together_with_their_likes() {
        let gather = (
            "_allgather_base",
            r#","Seq":3,"Out msg nelems":14"#.to_owned(),
        );
        let read = |asked: &[(&str, String)]| [0, 1].map(|rank| profile(rank, 1, asked));
        let lengths = |files: &[FileRead]| {
            let joined = matched(files).joined;
            joined.iter().map(Vec::len).collect::<Vec<usize>>()
        };
        let files = read(&[gather.clone(), gather.clone()]);
        assert_eq!(lengths(&files), [1, 1]);
        let broadcast = ("broadcast", String::new());
        let send = ("send", r#","Dst Rank":1"#.to_owned());
        for other in [broadcast, send] {
            let files = read(&[gather.clone(), other]);
            assert_eq!(lengths(&files), [0, 0]);
            assert_eq!(files[0].unused[0].kind, "coalesced communication kernel");
        }
    }

    /// Before 2.5 PyTorch names a peer by its rank in the group alone, and only with
    /// `record_shapes=True`.
    #[test]
    fn peers_are_those_that_the_request_says_by_their_rank_in_the_group() {
        let older = |place: u32, has_shapes: bool| {
            let rank = [4, 7][place as usize];
            let inputs = format!(
                r#","Concrete Inputs":["","[3, True]","['0', '']","{}"]"#,
                1 - place
            );
            let inputs = if has_shapes { inputs } else { String::new() };
            let asked = [("send", inputs.clone()), ("recv", inputs)];
            let text = text(place, 4, &asked).replace("[0, 1]", "[4, 7]");
            read(&text.replacen(
                &format!(r#""rank":{place}"#),
                &format!(r#""rank":{rank}"#),
                1,
            ))
        };
        let files = [0, 1].map(|place| older(place, true));
        let found = matched(&files);
        let lengths: Vec<usize> = found.joined.iter().map(Vec::len).collect();
        assert_eq!(lengths, [8, 8], "{:?}", found.unmatched);
        let files = [0, 1].map(|place| older(place, false));
        assert_eq!(files[0].unused[0].kind, "peerless communication kernel");
        assert!(files.iter().all(|it| it.calls.is_empty()));
    }
}
