//! Many numbers from and to Python as bytes: what holds some as such gives them without
//! their being looked at one by one, and nothing but Python is needed for that.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Signed numbers of eight bytes each, in the order of this machine.
pub(crate) fn signed(bytes: &[u8]) -> Vec<i64> {
    let words = bytes.as_chunks::<8>().0.iter();
    words.map(|it| i64::from_ne_bytes(*it)).collect()
}

/// Numbers as bytes, eight each, in the order of this machine.
pub(crate) fn bytes<'py>(py: Python<'py>, numbers: &[i64]) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = numbers.iter().flat_map(|it| it.to_ne_bytes()).collect();
    PyBytes::new(py, &all)
}
