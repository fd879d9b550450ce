//! How much work a search may take.
//!
//! Steps are counted, not seconds: on another computer, or with other programs
//! beside it, a search ends where it does here.

/// Steps that are left: each is a look at a node or an arc of a graph, of which a
/// core does some hundred million per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) const fn of(steps: u64) -> Self {
        Self { left: steps }
    }

    pub(super) const fn use_up(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Asks two questions side by side; each may take what is left, and what the
    /// longer one took counts.
    pub(super) fn both<A: Send, B: Send>(
        &mut self,
        first: impl FnOnce(&mut Self) -> A + Send,
        second: impl FnOnce(&mut Self) -> B + Send,
    ) -> (A, B) {
        let (mut ours, mut theirs) = (*self, *self);
        let answers = rayon::join(|| first(&mut ours), || second(&mut theirs));
        self.left = ours.left.min(theirs.left);
        answers
    }
}
