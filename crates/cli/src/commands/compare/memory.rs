//! The memory that a piece of work takes.
//!
//! What is resident at most while it runs, beyond what was resident before: the
//! kernel keeps the highest mark and sets it back on demand (`clear_refs`, see
//! proc(5)). Memory that an allocator kept from earlier work and uses again is
//! resident all the time and does not count, so that small pieces of work can
//! seem to take none. Elsewhere than on Linux nothing is known.

use std::fs;

/// Runs some work; the bytes that it took, if they are known.
pub(super) fn of<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let before = fs::write("/proc/self/clear_refs", "5")
        .ok()
        .and_then(|()| resident("VmRSS:"));
    let result = work();
    let most = before.and_then(|_| resident("VmHWM:"));
    let extra = before.zip(most);
    let extra = extra.map(|(before, most)| most.saturating_sub(before));
    (result, extra)
}

/// A line of the process' status, in bytes.
fn resident(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn large_work_is_seen_and_forgotten() {
        let fill = || vec![1_u8; 200 << 20].iter().map(|&it| u64::from(it)).sum();
        let (sum, bytes): (u64, _) = super::of(fill);
        assert_eq!(sum, 200 << 20);
        let ((), after) = super::of(|| ());
        if let (Some(bytes), Some(after)) = (bytes, after) {
            assert!(bytes >= 190 << 20, "{bytes}");
            assert!(after < 100 << 20, "{after}");
        }
    }
}
