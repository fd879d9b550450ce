//! Collective operations of compiled programs of JAX, as profiles of XLA record them.
//!
//! Each process writes a file, whose times count from when its session began, and which says no
//! rank. An operation is a stay on a thread or stream that says which instruction of which
//! program it is, and which run of that program:
//!
//! ```text
//! all-reduce   hlo_op "all-reduce", hlo_module "jit_step", run_id "1006068418", device_ordinal "0"
//! ```
//!
//! All processes of a job number the runs of a program alike (`launch_id`, by which
//! XLA lets those meet that belong together), and each instruction is done once in a run, so
//! that program, instruction and run name an operation; what is done again, in a loop, is
//! ambiguous. Nobody ends an all-reduce, all-gather, reduce-scatter or all-to-all before all of its
//! group have begun, since what comes out, or comes from each, needs something of everybody. In a
//! recording of two processes on one machine some offset of their sessions allows that in all of
//! ten runs, and leaves 0.8 ms open.
//!
//! Who is of one group is said by `replica_groups` where the text of the instruction is recorded
//! (`long_name`). Where it is not, two files of one device each have but one group: what a
//! device does by itself is no collective. In all other cases nothing is known, and calls are
//! counted. Parts of an operation that is done beside others (`all-reduce-start`) need not wait.
//!
//! On GPUs an instruction is done by kernels, which have no category and say no run:
//!
//! ```text
//! ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)   hlo_op "all-reduce-start.1", hlo_module "jit_step", correlation_id "12"
//! ```
//!
//! Those of NCCL are counted.

use retime_model::Operation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Call, Label, On, What};
use crate::header::number;
use crate::recorded::Recorded;

/// The words under which unused calls are counted; they take a plural.
pub(crate) const UNUSED: &str = "XLA collective";

/// Operations by what an instruction is called, numbers aside.
const NAMES: [(&str, Operation); 4] = [
    ("all-reduce", Operation::Allreduce),
    ("all-gather", Operation::Allgather),
    ("reduce-scatter", Operation::ReduceScatter),
    ("all-to-all", Operation::Alltoall),
];

/// The beginnings of instructions and kernels that communicate.
const COMMUNICATE: [&[u8]; 6] = [
    b"all-reduce",
    b"all-gather",
    b"reduce-scatter",
    b"all-to-all",
    b"collective-permute",
    b"nccl",
];

/// A collective operation of a compiled program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Instruction {
    pub(crate) call: Call,
    pub(crate) device: String,
    /// The number of members of its only group, if that is said.
    pub(crate) members: Option<usize>,
}

/// An event of a compiled program that communicates.
pub(crate) enum Told {
    Instruction(Box<Instruction>),
    /// It communicates, but proves nothing.
    Other,
}

/// Reads an event, if it is of a compiled program and communicates.
#[inline]
pub(crate) fn told(event: &Recorded<'_>, event_number: u32) -> Option<Told> {
    let name = event.name;
    let may_be = matches!(name.first(), Some(b'a' | b'r' | b'c' | b'n'));
    if !may_be || !event.category.is_empty() || !COMMUNICATE.iter().any(|it| name.starts_with(it)) {
        return None;
    }
    let args = event.arguments.all();
    let is_compiled = args.as_object()?.keys().any(|it| it.starts_with("hlo_"));
    let instruction = || instruction(event_number, &args).map(Box::new);
    is_compiled.then(|| instruction().map_or(Told::Other, Told::Instruction))
}

fn instruction(event_number: u32, args: &Value) -> Option<Instruction> {
    let of = |key| args.get(key).and_then(Value::as_str);
    let (op, module) = (of("hlo_op")?, of("hlo_module")?);
    let plain = op.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    let (_, operation) = NAMES.iter().find(|it| it.0 == plain)?;
    let run = number(args.get("run_id"))?;
    let text = ["long_name", "hlo_text"].into_iter().find_map(of);
    let members = match text.and_then(replica_groups) {
        Some(groups) => Some(one_group(&groups)?),
        None => None,
    };
    let name = format!("XLA {module} {op}");
    Some(Instruction {
        call: Call {
            group: Some(Label {
                name,
                ranks: String::new(),
            }),
            sequence: Some(run),
            ..Call::unnamed(
                event_number,
                What::Collective(*operation),
                format!("{plain} {module} {op}"),
                On::Stream,
            )
        },
        device: of("device_ordinal").unwrap_or_default().to_owned(),
        members,
    })
}

/// The number of members of each group that the text of an instruction lists: `{{0,1},{2,3}}`, or
/// `[2,2]<=[4]`, which is two groups of two. Nothing if it lists none.
fn replica_groups(text: &str) -> Option<Vec<usize>> {
    let (_, groups) = text.split_once("replica_groups=")?;
    if let Some(list) = groups.strip_prefix("{{") {
        let (list, _) = list.split_once("}}")?;
        return Some(list.split("},{").map(|it| it.split(',').count()).collect());
    }
    let (shape, _) = groups.strip_prefix('[')?.split_once(']')?;
    let (count, members) = shape.split_once(',')?;
    let count: usize = count.trim().parse().ok()?;
    // More than one group are as good as any number.
    Some(vec![members.trim().parse().ok()?; count.min(2)])
}

/// The members of the only group.
fn one_group(groups: &[usize]) -> Option<usize> {
    match groups {
        [members] => Some(*members),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_from_the_text_of_an_instruction() {
        for (text, expected) in [
            (
                "%a = f32[8] all-reduce(%b), replica_groups={{0,1,2,3}}, to_apply=%add",
                Some(vec![4]),
            ),
            (
                "all-gather(%b), replica_groups={{0,1},{2,3}}, dimensions={0}",
                Some(vec![2, 2]),
            ),
            (
                "all-reduce(%b), replica_groups=[1,8]<=[8], to_apply=%add",
                Some(vec![8]),
            ),
            (
                "all-reduce(%b), replica_groups=[4,2]<=[8]",
                Some(vec![2, 2]),
            ),
            ("all-reduce(%b), replica_groups={}, to_apply=%add", None),
            ("all-reduce(%b)", None),
        ] {
            assert_eq!(replica_groups(text), expected, "{text}");
        }
    }

    fn of_text(name: &[u8], args: &[u8]) -> Option<Told> {
        let recorded = Recorded {
            name,
            category: b"",
            arguments: &crate::chrome::ArgumentsText(args),
        };
        told(&recorded, 0)
    }

    fn taken(name: &str, args: &str) -> Option<Instruction> {
        match of_text(name.as_bytes(), args.as_bytes())? {
            Told::Instruction(it) => Some(*it),
            Told::Other => None,
        }
    }

    #[test]
    fn only_what_waits_for_all_is_an_instruction() {
        let of = |op: &str, more: &str| {
            format!(
                r#"{{"hlo_op":"{op}","hlo_module":"jit_f","run_id":"7","device_ordinal":"0"{more}}}"#
            )
        };
        assert_eq!(
            taken("all-reduce", &of("all-reduce", "")).unwrap().members,
            None
        );
        assert_eq!(
            taken("all-gather.12", &of("all-gather.12", ""))
                .unwrap()
                .members,
            None
        );
        let one = r#","long_name":"replica_groups={{0,1,2}}""#;
        assert_eq!(
            taken("all-to-all.1", &of("all-to-all.1", one))
                .unwrap()
                .members,
            Some(3)
        );
        let two = r#","long_name":"replica_groups={{0,1},{2,3}}""#;
        assert!(taken("all-reduce", &of("all-reduce", two)).is_none());
        for op in [
            "all-reduce-start.1",
            "collective-permute",
            "all-reduce-done",
        ] {
            assert!(taken(op, &of(op, "")).is_none(), "{op}");
            assert!(matches!(
                of_text(op.as_bytes(), of(op, "").as_bytes()),
                Some(Told::Other)
            ));
        }
        // The compiler's passes are called so, too.
        assert!(of_text(b"all-reduce-promotion", b"").is_none());
    }

    #[test]
    fn kernels_of_instructions_are_counted() {
        let name = b"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        let args = br#"{"hlo_op":"all-reduce-start.1","hlo_module":"jit_f","correlation_id":"12"}"#;
        assert!(matches!(of_text(name, args), Some(Told::Other)));
        assert!(of_text(b"loop_fusion", args).is_none());
        assert!(of_text(name, br#"{"correlation_id":"12"}"#).is_none());
    }
}
