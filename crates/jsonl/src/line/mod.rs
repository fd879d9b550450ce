//! The content of a line. The format is described in `docs/STREAM.md`.
//!
//! ```text
//! text --> Fields   the values that mean something, as they are written
//!      --> What     what the line asks for, with ids and peers
//! ```
//!
//! Most lines are flat objects of plain strings and whole numbers; for those a
//! scanner (`quick`) that knows nothing else finds the fields. Whatever it does
//! not know for certain (escapes, fractions, lists, mistakes) it leaves to serde,
//! which alone decides what is valid and what is said about the rest. On lines of
//! 130 bytes that is more than twice as fast as serde alone.

mod fields;
mod header;
mod quick;
mod read;
mod what;

pub use fields::Fields;
pub(crate) use fields::place;
pub use header::Header;
pub use what::{Kind, Part, Partner, Transfer, What};

/// No line is longer, in bytes without its end. A line is held in memory as a whole,
/// and input without line ends must not fill it; a first line may list a million
/// locations.
pub const LONGEST: usize = 1 << 24;

/// The message of serde without the line number, which is always 1.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(message, _)| message);
    format!("{message}, at character {}", error.column())
}
