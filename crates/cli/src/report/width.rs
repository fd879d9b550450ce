//! Lines that fit the terminal. Whoever reads by a program gets them whole.

use std::iter;

/// Narrower than this, words below a label would stand alone.
const NARROWEST: usize = 40;
/// Continued lines stand below the content of the first, beside the labels of a summary.
const INDENT: usize = 11;

/// The columns of the terminal that standard output is; `None` if it is none.
pub(crate) fn of_terminal() -> Option<usize> {
    #[cfg(unix)]
    {
        let out = std::io::stdout();
        let size = rustix::termios::tcgetwinsize(&out).ok()?;
        Some(usize::from(size.ws_col)).filter(|it| *it >= NARROWEST)
    }
    #[cfg(not(unix))]
    None
}

/// The text with each line that is wider broken between words. Lines of tables fit, or lose their
/// form in any way.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|line| broken(line, width)).collect()
}

fn broken(line: &str, width: usize) -> String {
    if shown(line) <= width {
        return line.into();
    }
    let begin = line.len() - line.trim_start_matches(' ').len();
    let labelled = line.starts_with(' ') || line.starts_with('\u{1b}');
    let indent = if labelled { INDENT } else { 0 };
    let (mut out, mut column) = (line[..begin].to_owned(), begin);
    // Blanks between words are kept, as labels stand in columns.
    for word in line[begin..].split_inclusive(' ') {
        let length = shown(word);
        if column > indent && column + shown(word.trim_end()) > width {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.extend(iter::repeat_n(' ', indent));
            column = indent;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// The columns that a text takes, without what only sets its colour.
fn shown(text: &str) -> usize {
    let (mut count, mut letters) = (0, text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            // An escape sequence ends with its first letter.
            '\u{1b}' => while letters.next().is_some_and(|it| !it.is_ascii_alphabetic()) {},
            '\n' | '\r' => {}
            _ => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_between_words_below_their_content() {
        let line = "\u{1b}[1mverdict    \u{1b}[0mone two three four five six seven eight nine\n";
        let expected = "\u{1b}[1mverdict    \u{1b}[0mone two three four five\n           six seven eight nine\n";
        assert_eq!(wrapped(line, 36), expected);
        assert_eq!(wrapped(line, 100), line);
        assert_eq!(
            wrapped("plain words without a label go on at the edge\n", 40),
            "plain words without a label go on at the\nedge\n"
        );
    }

    #[test]
    fn a_word_that_fits_nowhere_stays_whole() {
        let path = "a/".repeat(40);
        assert_eq!(wrapped(&path, 40), path);
        let text = format!("see {path}\n");
        assert_eq!(wrapped(&text, 40), format!("see\n{path}\n"));
    }
}
