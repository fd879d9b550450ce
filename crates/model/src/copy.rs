//! Copies of files as `cp -p` makes them: the bytes, who may read and write them, and if they
//! are the same the time. Where a file has holes, so has its copy.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::access::Access;
use crate::attributes::UserAttributes;
use crate::holes::Holes;
use crate::modified::Modified;
use crate::monitor::{Cancelled, Monitor};
use crate::regular::open_regular;

/// Bytes that are copied at a time.
const BLOCK: usize = 1 << 18;

/// Gives a written copy what a copy has of the original besides its content, and a time of
/// modification, if there is one that belongs to its content.
pub fn resemble(
    original: &Metadata,
    path: &Path,
    copy: &Path,
    time: Option<Modified>,
) -> io::Result<()> {
    let copy = File::options().append(true).open(copy)?;
    resemble_opened(original, path, &copy, time)
}

/// Gives a copy that was opened what it has of the original, found at `path`, besides its
/// content: what users noted in it, the access, and a time that belongs to its content.
pub fn resemble_opened(
    original: &Metadata,
    path: &Path,
    copy: &File,
    time: Option<Modified>,
) -> io::Result<()> {
    // First, since it takes the right to write.
    UserAttributes::of(path)?.give(copy)?;
    Access::of(original, path)?.give(copy)?;
    time.map_or(Ok(()), |time| time.give(copy))
}

/// Copies a file byte for byte to a new one; `failed` makes an error of what the system
/// says of a path.
pub fn copy_file<E: From<Cancelled>>(
    path: &Path,
    to: &Path,
    monitor: &dyn Monitor,
    failed: impl Fn(&Path, io::Error) -> E,
) -> Result<(), E> {
    let mut from = open_regular(path).map_err(|source| failed(path, source))?;
    let mut copy = File::create_new(to).map_err(|source| failed(to, source))?;
    let (mut holes, mut buffer) = (Holes::default(), vec![0; BLOCK]);
    loop {
        monitor.check()?;
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(|source| failed(path, source))?,
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        let parts = holes.parts(&from, bytes);
        for part in parts.map_err(|source| failed(path, source))? {
            part.write(&mut copy).map_err(|source| failed(to, source))?;
        }
        monitor.advance(count as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[derive(Debug)]
    struct Failed;

    impl From<Cancelled> for Failed {
        fn from(_: Cancelled) -> Self {
            Self
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_copy_has_the_holes_of_the_original() -> io::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let dir = std::env::temp_dir().join(format!("retime-sparse-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let (from, to) = (dir.join("from"), dir.join("to"));
        let file = File::create(&from)?;
        file.set_len(3 * BLOCK as u64 + 5)?;
        file.sync_all()?;
        assert!(copy_file(&from, &to, &(), |_, _| Failed).is_ok());
        let [original, copy] = [&from, &to].map(fs::metadata);
        let (original, copy) = (original?, copy?);
        assert_eq!(copy.len(), original.len());
        assert!(copy.blocks() <= original.blocks());
        fs::remove_dir_all(&dir)
    }

    #[test]
    fn a_copy_is_a_new_file_of_the_same_bytes_and_time() -> io::Result<()> {
        let dir = std::env::temp_dir().join(format!("retime-copy-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let (from, to) = (dir.join("from"), dir.join("to"));
        let content: Vec<u8> = (0..2 * BLOCK + 7).map(|at| (at % 253) as u8).collect();
        fs::write(&from, &content)?;
        File::options()
            .append(true)
            .open(&from)?
            .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000))?;
        let original = fs::metadata(&from)?;
        let copied = copy_file(&from, &to, &(), |_, _| Failed).is_ok();
        assert!(copied && fs::read(&to)? == content);
        resemble(&original, &from, &to, Modified::of(&original))?;
        assert_eq!(fs::metadata(&to)?.modified()?, original.modified()?);
        // What is there already stays.
        assert!(copy_file(&from, &to, &(), |_, _| Failed).is_err());
        fs::remove_dir_all(&dir)
    }
}
