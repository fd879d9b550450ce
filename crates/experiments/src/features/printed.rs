//! The thesis' own table.

/// A method in the thesis' table 7.1.
pub(super) struct Printed {
    /// Ours that is the same.
    pub(super) method: &'static str,
    /// Its heading there.
    pub(super) name: &'static str,
    /// What is printed, by our requirements; digits are the remarks that restrict
    /// it.
    pub(super) cells: [&'static str; 11],
}

/// The columns of the table, without complexity and computing time.
pub(super) const PRINTED: &[Printed] = &[
    Printed {
        method: "convex-hull",
        name: "Duda",
        cells: ["+", "2)", "7)", "7)", "-", "-", "-", "+", "+", "-", "-"],
    },
    Printed {
        method: "spanning-tree",
        name: "Jézéquel",
        cells: ["+", "2)", "+", "+", "-", "-", "-", "+", "+", "-", "-"],
    },
    Printed {
        method: "hofmann-hilgers",
        name: "Hofmann & Hilgers",
        cells: ["3)4)", "-", "+", "3)4)", "-", "-", "-", "+", "+", "-", "-"],
    },
    Printed {
        method: "extended",
        name: "section 7.7",
        cells: [
            "3)", "3)", "+", "3)5)", "3)5)", "-", "-", "+", "+", "6)", "-",
        ],
    },
    Printed {
        method: "clc abcd",
        name: "controlled clock",
        cells: ["+"; 11],
    },
];
