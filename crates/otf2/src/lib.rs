//! Under construction.

pub mod writer;
