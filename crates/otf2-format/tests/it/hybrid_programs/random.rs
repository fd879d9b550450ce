//! Numbers that a seed decides.

/// `SplitMix64`.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((it ^ (it >> 31)) % end.max(1) as u64) as usize
    }

    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub(super) fn shuffle<T>(&mut self, of: &mut [T]) {
        for end in (1..of.len()).rev() {
            of.swap(end, self.below(end + 1));
        }
    }

    /// Some of these, at least `least`, in any order.
    pub(super) fn some<T: Copy>(&mut self, of: &[T], least: usize) -> Vec<T> {
        let mut all = of.to_vec();
        self.shuffle(&mut all);
        let more = self.below(all.len().saturating_sub(least) + 1);
        all.truncate(least + more);
        all
    }
}
