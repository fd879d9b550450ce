//! Words of command lines that a reader may copy.

use std::ffi::OsStr;
use std::path::Path;

use retime::printable;

/// A path, an option or a value as a word of a command line, which shells read as it is.
///
/// Those characters that a terminal would obey stand as their bytes in a string of `$'...'`, which
/// POSIX has since 2024, and bash, zsh and ksh had before: octal ones, since they end by
/// themselves. So do bytes that are no text.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+=:@%,".contains(it);
    if let Some(text) = word.to_str() {
        if !text.is_empty() && text.chars().all(is_plain) {
            return text.into();
        }
        if printable(text) == text {
            return format!("'{}'", text.replace('\'', "'\\''"));
        }
    }
    let mut inside = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut bytes = [0; 4];
            let text: &str = character.encode_utf8(&mut bytes);
            match character {
                '\n' => inside += "\\n",
                '\'' | '\\' => inside.extend(['\\', character]),
                _ if printable(text) == text => inside.push(character),
                _ => inside.extend(octal(text.as_bytes())),
            }
        }
        inside.extend(octal(chunk.invalid()));
    }
    format!("$'{inside}'")
}

/// A path as a word that no command takes for an option.
pub(crate) fn quoted_path(path: &Path) -> String {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        quoted(Path::new(".").join(path))
    } else {
        quoted(path)
    }
}

fn octal(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes.iter().map(|it| format!("\\{it:03o}"))
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

    #[cfg(unix)]
    #[test]
    fn a_word_need_not_be_text() {
        use std::os::unix::ffi::OsStrExt;

        let word = OsStr::from_bytes(b"it's \xff\x1b");
        assert_eq!(quoted(word), "$'it\\'s \\377\\033'");
    }

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(quoted_path(Path::new("-o")), "./-o");
        assert_eq!(quoted_path(Path::new("runs/-o")), "runs/-o");
    }
}
