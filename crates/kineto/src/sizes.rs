//! How many bytes an operation moves, from what calls say of their tensors.
//!
//! Calls of one operation have equal [signatures](crate::call): a name, and after it either
//! how many elements go in and come out and of which type, as kernels of NCCL say it, or the
//! dimensions and types of all tensors that go in. What counts is the larger of both
//! sides: of an all-gather what comes out, of a reduce-scatter what goes in, as in the tests of
//! NCCL (`nccl-tests`, "size"). Where only one side is told it is that.

use serde_json::Value;

/// The name of an operation, and the bytes that one participant gives or gets.
pub(crate) fn of_signature(signature: &str) -> (&str, Option<u64>) {
    let (name, sizes) = signature.split_once(' ').unwrap_or((signature, ""));
    (name, of_elements(sizes).or_else(|| of_tensors(sizes)))
}

/// The bytes of `1024 8192 BFloat16`.
fn of_elements(sizes: &str) -> Option<u64> {
    let mut words = sizes.split(' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let (input, output) = (number()?, number()?);
    input.max(output).checked_mul(of_type(words.next()?)?)
}

/// The bytes of `[[1024,64],[8]] ["float","long int"]`; scalars and what is empty take none.
fn of_tensors(sizes: &str) -> Option<u64> {
    let mut values = serde_json::Deserializer::from_str(sizes).into_iter::<Value>();
    let (dims, types) = (values.next()?.ok()?, values.next()?.ok()?);
    let tensors = dims.as_array()?.iter().zip(types.as_array()?);
    let bytes = tensors.map(|(dims, of)| tensor(dims, of.as_str()?));
    let sum = bytes.flatten().try_fold(0_u64, u64::checked_add)?;
    (sum > 0).then_some(sum)
}

fn tensor(dims: &Value, of: &str) -> Option<u64> {
    let dims = dims.as_array().filter(|it| !it.is_empty())?;
    let elements = dims
        .iter()
        .try_fold(1_u64, |so_far, it| so_far.checked_mul(it.as_u64()?));
    if let Some(elements) = elements {
        return elements.checked_mul(of_type(of)?);
    }
    // Lists of tensors have a list for each.
    let mut each = dims.iter().map(|it| tensor(it, of));
    each.try_fold(0_u64, |sum, it| sum.checked_add(it?))
}

/// The bytes of an element, by the names of PyTorch in Python and C++.
fn of_type(name: &str) -> Option<u64> {
    let name = name.trim_start_matches("c10::");
    Some(match name.to_ascii_lowercase().as_str() {
        "double" | "long" | "long int" | "int64" | "float64" | "complexfloat" => 8,
        "float" | "int" | "int32" | "float32" | "complexhalf" => 4,
        "half" | "bfloat16" | "short" | "short int" | "float16" | "int16" => 2,
        "byte" | "char" | "bool" | "int8" | "uint8" | "signed char" | "unsigned char" => 1,
        "complexdouble" => 16,
        other if other.starts_with("float8") => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_of_all_kinds_say_their_bytes() {
        for (signature, expected) in [
            ("all_reduce 1024 1024 Float", ("all_reduce", Some(4096))),
            (
                "_allgather_base 512 4096 BFloat16",
                ("_allgather_base", Some(8192)),
            ),
            (
                "_reduce_scatter_base 4096 512 c10::Half",
                ("_reduce_scatter_base", Some(8192)),
            ),
            (
                "allreduce [[1024,64]] [\"float\"]",
                ("allreduce", Some(262_144)),
            ),
            (
                "allreduce [[8],[]] [\"long int\",\"Scalar\"]",
                ("allreduce", Some(64)),
            ),
            ("barrier [] []", ("barrier", None)),
            ("all_reduce 10 10 Opaque", ("all_reduce", None)),
            ("all_to_allv", ("all_to_allv", None)),
            (
                "all_reduce 18446744073709551615 1 Float",
                ("all_reduce", None),
            ),
        ] {
            assert_eq!(of_signature(signature), expected);
        }
    }
}
