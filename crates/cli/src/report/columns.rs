//! Tables of words and figures, and paragraphs below them.

/// Most characters of a line.
const WIDTH: usize = 98;

/// A line for the heading and each row: words, in the first column, to the left,
/// figures to the right.
pub(crate) fn columns<S: AsRef<str>>(heading: &[S], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|it| it.as_ref().to_owned()).collect();
    let all = || std::iter::once(&heading).chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in all() {
        let cells = row.iter().zip(&widths).enumerate();
        let line: Vec<String> = cells
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        text += line.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// The words of a text in lines that fit.
pub(crate) fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}
