//! Printed figures beside ours.

/// The figures of an experiment beside those that a paper prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The experiment in one line.
    pub title: String,
    /// Paper and section.
    pub source: &'static str,
    /// The figures.
    pub rows: Vec<Row>,
    /// Notes by which to judge the figures, a paragraph each.
    pub notes: Vec<String>,
}

/// Stands before a figure that a paper does not print, but that follows from what it
/// prints.
pub(crate) const FOLLOWS: &str = "follows: ";

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The quantity that was measured.
    pub quantity: String,
    /// The figure that the paper prints, or after `follows:` the one that follows from it; `-` for
    /// none.
    pub printed: String,
    /// The figure that came out here.
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
