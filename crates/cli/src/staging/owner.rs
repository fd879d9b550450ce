//! Which process a hidden directory belongs to, and whether that is certainly over.
//!
//! Directories are shared: by machines, by containers, by users. A number alone says
//! nothing of a process elsewhere, so a name holds a mark of where numbers mean the same:
//! one run of one system, and one space of process numbers in it.

use std::fmt;
use std::path::Path;

/// A process by its number, and where that was given; the part of a name behind `.retime-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) process: u32,
    /// `None` where the system does not tell.
    place: Option<String>,
}

impl Owner {
    /// This process.
    pub(super) fn this() -> Self {
        Self {
            process: std::process::id(),
            place: place(),
        }
    }

    /// From the part of a name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (process, place) = match text.split_once('-') {
            Some((process, place)) => (process, Some(place.to_owned())),
            None => (text, None),
        };
        let process = process.parse().ok()?;
        Some(Self { process, place })
    }

    /// True if no process here has the number, or only this one, whose number an earlier one
    /// had.
    pub(super) fn is_missing(&self) -> bool {
        self.process == std::process::id() || !is_alive(self.process)
    }

    /// True if it is another process than this one, and certainly over.
    pub(super) fn is_over(&self) -> bool {
        let here = self.place.is_some() && self.place == place();
        here && self.process != std::process::id() && !is_alive(self.process)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{}-{place}", self.process),
            None => write!(f, "{}", self.process),
        }
    }
}

/// Where numbers of processes mean what they mean to this one.
fn place() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let numbers = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let both = format!("{} {}", boot.trim(), numbers.display());
        Some(format!("{:08x}", crc32fast::hash(both.as_bytes())))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// True if a process runs; where that cannot be told it is taken to run.
fn is_alive(process: u32) -> bool {
    let table = Path::new("/proc");
    let is_missing = |path: &Path| path.try_exists().is_ok_and(|exists| !exists);
    is_missing(&table.join("self")) || !is_missing(&table.join(process.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above the largest number of a process that Linux allows.
    const NOBODY: u32 = 1 << 23;

    #[test]
    fn only_what_ended_here_is_over() {
        let this = Owner::this();
        assert_eq!(Owner::parse(&this.to_string()), Some(this.clone()));
        assert!(!this.is_over() && this.is_missing());
        let of = |process, place: Option<&str>| Owner {
            process,
            place: place.map(str::to_owned),
        };
        let here = this.place.as_deref();
        assert_eq!(of(NOBODY, here).is_over(), here.is_some());
        assert!(!of(NOBODY, Some("elsewhere")).is_over());
        assert!(!of(NOBODY, None).is_over());
        assert!(!of(1, here).is_over());
        for malformed in ["", "x", "-", "1x-2"] {
            assert_eq!(Owner::parse(malformed), None, "{malformed}");
        }
    }
}
