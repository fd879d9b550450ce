//! The costs of waits, which are divided among those that caused them so that nothing is lost.

/// The part of a wait of the one who came last that may have made it late.
#[derive(Clone, Copy)]
pub(super) struct Idle {
    pub(super) wait: u32,
    pub(super) length: u64,
}

/// The cost of a wait, and how much of it is certain.
#[derive(Clone, Copy, Default)]
pub(super) struct WaitCost {
    pub(super) all: u64,
    pub(super) certain: u64,
}

impl WaitCost {
    /// The cost with the wait itself added.
    pub(super) fn with(self, length: u64, is_certain: bool) -> Self {
        Self {
            all: self.all.saturating_add(length),
            certain: if is_certain {
                self.certain.saturating_add(length)
            } else {
                0
            },
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.all = self.all.saturating_add(other.all);
        self.certain = self.certain.saturating_add(other.certain);
    }

    /// A share of it, rounded down.
    pub(super) fn share(self, part: u64, of: u64) -> Self {
        let share = |cost: u64| proportion(cost, part.into(), of.into());
        Self {
            all: share(self.all),
            certain: share(self.certain),
        }
    }

    /// Divides it in proportion to lengths, so that nothing is lost.
    pub(super) fn divide(self, among: &[Idle], mut give: impl FnMut(u32, Self)) {
        let whole: u128 = among.iter().map(|it| u128::from(it.length)).sum();
        let up_to = |cost: u64, sum: u128| proportion(cost, sum, whole);
        let (mut sum, mut given) = (0, Self::default());
        for it in among.iter().filter(|_| whole > 0) {
            sum += u128::from(it.length);
            let all = up_to(self.all, sum);
            let certain = up_to(self.certain, sum);
            let part = Self {
                all: all - given.all,
                certain: certain - given.certain,
            };
            given = Self { all, certain };
            give(it.wait, part);
        }
    }
}

/// A cost times a part of a whole, rounded down.
fn proportion(cost: u64, part: u128, whole: u128) -> u64 {
    let product = u64::try_from(part).ok().and_then(|it| cost.checked_mul(it));
    // Wide divisions take several times as long, and few are needed.
    match (product, u64::try_from(whole)) {
        (Some(product), Ok(whole)) => product / whole.max(1),
        _ => (u128::from(cost).saturating_mul(part) / whole.max(1)) as u64,
    }
}
