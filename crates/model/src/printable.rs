//! Names and paths as people may read them on a terminal.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// A text from outside, such as a name in a trace, without what a terminal obeys: control
/// characters, and those that turn the direction of writing. They are shown as Rust
/// writes them.
///
/// ```
/// use retime_model::printable;
///
/// assert_eq!(printable("Größe [m²]"), "Größe [m²]");
/// assert_eq!(printable("\u{1b}[2Jgone\r\n"), r"\u{1b}[2Jgone\r\n");
/// assert_eq!(printable("\u{202e}txt.exe"), r"\u{202e}txt.exe");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' | '\0' => shown.extend(character.escape_default()),
            _ if is_obeyed(character) => {
                // Writing to a string does not fail.
                let _ = write!(shown, "{}", character.escape_unicode());
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// A path as [`printable`] text: in a message of one line it stays in that line.
///
/// ```
/// use std::path::Path;
/// use retime_model::printable_path;
///
/// assert_eq!(printable_path(Path::new("two\nlines/traces.otf2")), r"two\nlines/traces.otf2");
/// ```
pub fn printable_path(path: impl AsRef<Path>) -> String {
    printable(&path.as_ref().to_string_lossy()).into_owned()
}

fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
