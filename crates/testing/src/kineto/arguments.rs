//! The arguments that events are written with.

use super::{
    groups::Group,
    happened::{Call, Instance, Role, What},
    job::Class,
    names::{Names, abbreviated, elements},
};

/// The arguments of an operator that `PyTorch` itself saw, with `more` besides.
pub(super) fn of_operator(external: u64, more: &str) -> String {
    let comma = if more.is_empty() { "" } else { ", " };
    let index = external - 1;
    format!(r#""External id": {external},"Record function id": 0{comma}{more}, "Ev Idx": {index}"#)
}

/// The arguments of a call by which the program asks for an operation. The first one is a list of tensors,
/// but for gathering, where the list to fill comes first, and a barrier, which has a tensor of its own.
pub(super) fn call(instance: &Instance, names: &Names) -> String {
    let (place, kind, dims) = match instance.what {
        What::Collective(Class::Barrier) => (0, "float", "[1]".to_owned()),
        What::Collective(Class::AllGather) => (
            1,
            "TensorList",
            format!("[[{}]]", instance.payload.elements),
        ),
        _ => (
            0,
            "TensorList",
            format!("[[{}]]", instance.payload.elements),
        ),
    };
    let strides = if kind == "float" { "[1]" } else { "[[1]]" };
    let inputs: Vec<_> = names.arguments.split(", ").collect();
    let types = inputs
        .iter()
        .enumerate()
        .map(|(number, &input)| match input {
            _ if number == place => kind,
            r#""""# => "",
            _ if input.starts_with("\"[") => "ScalarList",
            _ => "Scalar",
        });
    let types: Vec<_> = types.map(|it| format!("\"{it}\"")).collect();
    let only = |text: &str| {
        let texts = (0..inputs.len()).map(|number| if number == place { text } else { "[]" });
        texts.collect::<Vec<_>>().join(", ")
    };
    format!(
        r#""Concrete Inputs": [{}], "Input type": [{}], "Input Strides": [{}], "Input Dims": [{}]"#,
        names.arguments,
        types.join(", "),
        only(strides),
        only(&dims)
    )
}

/// The arguments of the annotation on a thread of Gloo.
pub(super) fn annotation(instance: &Instance) -> String {
    match instance.what {
        What::Collective(Class::Barrier) => String::new(),
        _ => format!(
            r#""Concrete Inputs": [""], "Input type": ["{}"], "Input Strides": [[1]], "Input Dims": [[{}]]"#,
            instance.payload.element.c_type(),
            instance.payload.elements
        ),
    }
}

/// Sizes as the profiler writes them, no more than 30 of them.
fn said(sizes: &[u64]) -> String {
    let sizes: Vec<u32> = sizes.iter().map(|it| *it as u32).collect();
    abbreviated(&sizes, false)
}

/// The arguments of an operation of NCCL, by the member at a place of its group. Newer versions know its
/// number, and peers.
pub(super) fn described(
    instance: &Instance,
    group: &Group,
    call: &Call,
    place: usize,
    [newer, says_peers]: [bool; 2],
) -> String {
    let size = group.ranks.len();
    let ([into, out], splits) = match instance.parts.get(place) {
        Some(gets) => {
            let gives: Vec<u64> = instance.parts.iter().map(|it| it[place]).collect();
            let splits = [&gives, gets].map(|it| said(it));
            ([gives.iter().sum(), gets.iter().sum()], splits)
        }
        None => (
            elements(instance.what, instance.payload.elements, size as u64).into(),
            ["[]".to_owned(), "[]".to_owned()],
        ),
    };
    let [in_splits, out_splits] = splits;
    let peer = match call.role {
        _ if !says_peers => String::new(),
        Role::Member => String::new(),
        Role::Sender { to } => format!(r#","Dst Rank": {to}"#),
        Role::Receiver { from } => format!(r#","Src Rank": {from}"#),
    };
    let sequence = if newer {
        format!(r#","Seq": {}"#, call.sequence)
    } else {
        String::new()
    };
    format!(
        r#""Collective name": "{}","In msg nelems": {into},"Out msg nelems": {out},"Group size": {size},"dtype": "{}","In split size": "{in_splits}","Out split size": "{out_splits}","Process Group Name": "{}","Process Group Description": "{}","Process Group Ranks": "{}"{peer}{sequence}"#,
        Names::new(instance.what, call.role, instance.payload.element).collective,
        instance.payload.element.dtype(),
        group.name,
        group.description,
        abbreviated(&group.ranks, newer),
    )
}
