//! The thesis' own table.

/// A method in the thesis' table 7.1.
pub(super) struct Printed {
    /// Ours that is the same.
    pub(super) method: &'static str,
    /// The printed cells, in the order of our requirements; digits are the remarks that restrict
    /// them.
    pub(super) cells: [&'static str; 11],
}

/// The columns of the table, without complexity and computing time.
pub(super) const PRINTED: &[Printed] = &[
    // Duda
    Printed {
        method: "convex-hull",
        cells: ["+", "2)", "7)", "7)", "-", "-", "-", "+", "+", "-", "-"],
    },
    // Jézéquel
    Printed {
        method: "spanning-tree",
        cells: ["+", "2)", "+", "+", "-", "-", "-", "+", "+", "-", "-"],
    },
    // Hofmann & Hilgers [HH98]
    Printed {
        method: "hofmann-hilgers",
        cells: ["3)4)", "-", "+", "3)4)", "-", "-", "-", "+", "+", "-", "-"],
    },
    // [HH98] extended, section 7.7
    Printed {
        method: "extended",
        cells: [
            "3)", "3)", "+", "3)5)", "3)5)", "-", "-", "+", "+", "6)", "-",
        ],
    },
    // the controlled logical clock
    Printed {
        method: "clc, abcd",
        cells: ["+"; 11],
    },
];
