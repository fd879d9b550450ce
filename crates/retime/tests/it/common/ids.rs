//! Numbers of what is under way at one location, used again at once when free.

/// The numbers of requests, or of probed messages.
#[derive(Clone, Default)]
pub struct Ids {
    free: Vec<u64>,
    used: u64,
}

impl Ids {
    /// A number that nothing under way has; the one freed last, if any.
    pub fn take(&mut self) -> u64 {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        })
    }

    pub fn give_back(&mut self, id: u64) {
        debug_assert!(id < self.used && !self.free.contains(&id), "not in use");
        self.free.push(id);
    }
}
