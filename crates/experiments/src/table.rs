//! Printed figures beside ours.

/// What an experiment gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What was done, in one line.
    pub title: String,
    /// Paper and section.
    pub source: &'static str,
    /// The figures.
    pub rows: Vec<Row>,
    /// What has to be known to judge them, a paragraph each.
    pub notes: Vec<String>,
}

/// Stands before a figure that a paper does not print, but that follows from what it
/// prints.
pub(crate) const FOLLOWS: &str = "follows: ";

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub quantity: String,
    /// What the paper prints, or after `follows:` what follows from it; `-` for nothing.
    pub printed: String,
    /// What came out here.
    pub ours: String,
    /// How they differ, and why.
    pub difference: String,
}

impl Row {
    /// A figure with its counterpart.
    pub fn new(
        quantity: impl Into<String>,
        printed: impl Into<String>,
        ours: impl Into<String>,
        difference: impl Into<String>,
    ) -> Self {
        Self {
            quantity: quantity.into(),
            printed: printed.into(),
            ours: ours.into(),
            difference: difference.into(),
        }
    }
}
