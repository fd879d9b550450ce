//! Words of command lines that a reader may copy.

use retime::printable;

/// A path, an option or a value as a word of a command line, which shells read as it is.
///
/// Those characters that a terminal would obey stand as their bytes in a string of `$'...'`, which
/// POSIX has since 2024, and bash, zsh and ksh had before: octal ones, since they end by
/// themselves.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+=:@%,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    if printable(word) == word {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut inside = String::new();
    for character in word.chars() {
        let mut bytes = [0; 4];
        let text: &str = character.encode_utf8(&mut bytes);
        match character {
            '\n' => inside += "\\n",
            '\'' | '\\' => inside.extend(['\\', character]),
            _ if printable(text) == text => inside.push(character),
            _ => inside.extend(text.bytes().map(|it| format!("\\{it:03o}"))),
        }
    }
    format!("$'{inside}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Bash is asked, since `sh` may be older than strings of `$'...'`.
    #[test]
    fn a_shell_reads_the_word_as_it_was() {
        for word in [
            "plain/traces.otf2",
            "",
            "it's two words",
            "a$b`c\"d\\e",
            "two\nlines\u{1b}[31m it's \\n\u{202e}txt\u{1}7",
        ] {
            let line = format!("printf %s {}", quoted(word));
            assert!(!line.contains(char::is_control), "{line:?}");
            let read = Command::new("bash").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(read.stdout).unwrap(), word, "{line}");
        }
    }
}
