//! How a process ends that could not do what was asked.

/// Exit code for system errors, as everywhere in retime.
pub(crate) const FAILURE: u8 = 2;
