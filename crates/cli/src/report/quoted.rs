//! Paths in command lines that a reader may copy.

use retime::printable;

/// A path as a word of a command line.
pub(crate) fn quoted(path: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+=:@%,".contains(it);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.into();
    }
    format!("'{}'", printable(path).to_string().replace('\'', "'\\''"))
}
