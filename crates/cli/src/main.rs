//! The command `retime`.

fn main() {}
