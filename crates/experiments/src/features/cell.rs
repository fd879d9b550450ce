//! The answer whether a method meets a requirement.

/// The answer if a method meets a requirement, with the figure that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// True if it does.
    pub met: bool,
    /// A few letters.
    pub text: String,
}

impl Cell {
    pub(super) fn yes(text: impl Into<String>) -> Self {
        Self {
            met: true,
            text: text.into(),
        }
    }

    pub(super) fn no(text: impl Into<String>) -> Self {
        Self {
            met: false,
            text: text.into(),
        }
    }
}
