//! Stays that follow each other in the same one, and the places that keep their order.

/// The nanoseconds that a repair may move single events by, whose stays keep their lengths.
pub(super) const REPAIRED: u64 = 1_000;

/// The new places of both ends of a stay that each have a stamp of their own; of a moment they
/// are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// An entry of a track, or some that cross each other and move as one.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Where the map puts it with its length, and later where it goes.
    pub(super) place: u64,
    /// Where the map puts both of its ends.
    pub(super) mapped: Ends,
    /// True if that is where they go.
    pub(super) is_mapped: bool,
}

impl Block {
    pub(super) fn length(&self) -> u64 {
        if self.is_mapped {
            self.mapped.end.saturating_sub(self.mapped.begin)
        } else {
            self.end - self.begin
        }
    }

    /// Lets both ends go where the map says.
    pub(super) fn follow(&mut self) {
        (self.is_mapped, self.place) = (true, self.mapped.begin);
    }

    pub(super) fn ends(&self) -> Option<Ends> {
        Some(Ends {
            begin: self.place,
            end: self.place.checked_add(self.length())?,
        })
    }
}

/// A block with those that begin before it ends, in a row of such.
pub(super) struct BlockGroup {
    pub(super) first: Block,
    /// When the last of them ends, as recorded and if the first is at 0.
    pub(super) end: u64,
    pub(super) length: u64,
}

/// Groups that follow each other.
pub(super) struct Row {
    pub(super) groups: Vec<BlockGroup>,
    pub(super) around: Option<Block>,
}

impl Row {
    /// Lets each place wait for the one before.
    fn delay(&self, places: &mut [u64]) -> Option<()> {
        // What came before, as recorded and as placed.
        let mut before = self.around.map(|it| (it.begin, it.place));
        for (group, place) in self.groups.iter().zip(places) {
            if let Some((recorded, placed)) = before.filter(|_| !group.first.is_mapped) {
                let apart = u64::from(group.first.begin > recorded);
                *place = (*place).max(placed.checked_add(apart)?);
            }
            before = Some((group.end, place.checked_add(group.length)?));
        }
        Some(())
    }

    /// Lets each place make room for the one behind.
    fn advance(&self, places: &mut [u64]) -> Option<()> {
        let mut behind = match self.around {
            Some(it) => Some((it.end, it.ends()?.end)),
            None => None,
        };
        for (group, place) in self.groups.iter().zip(places).rev() {
            if let Some((recorded, placed)) = behind.filter(|_| !group.first.is_mapped) {
                let apart = u64::from(group.end < recorded);
                let latest = placed.checked_sub(apart + group.length)?;
                *place = (*place).min(latest);
            }
            behind = Some((group.first.begin, *place));
        }
        Some(())
    }

    /// True if some of it has ends that do not move.
    pub(super) fn has_fixed(&self) -> bool {
        self.around.is_some_and(|it| it.is_mapped)
            || self.groups.iter().any(|it| it.first.is_mapped)
    }

    /// True if the places keep the order of the groups, and of what surrounds them.
    pub(super) fn is_kept_by(&self, places: &[u64]) -> bool {
        let mut before = self.around.map(|it| (it.begin, it.place));
        for (group, &place) in self.groups.iter().zip(places) {
            if let Some((recorded, placed)) = before {
                let apart = u64::from(group.first.begin > recorded);
                if place < placed.saturating_add(apart) {
                    return false;
                }
            }
            before = Some((group.end, place.saturating_add(group.length)));
        }
        let around = self.around.and_then(|it| Some((it.end, it.ends()?.end)));
        around.zip(before).is_none_or(|(around, last)| {
            let apart = u64::from(last.0 < around.0);
            last.1.saturating_add(apart) <= around.1
        })
    }

    /// The places in the middle between where nothing is moved earlier that does not have to be,
    /// and where nothing is moved later.
    pub(super) fn middle(&self) -> Option<Vec<u64>> {
        let wanted = || self.groups.iter().map(|it| it.first.place);
        let (mut later, mut earlier): (Vec<u64>, Vec<u64>) =
            (wanted().collect(), wanted().collect());
        self.delay(&mut later)?;
        self.advance(&mut later)?;
        self.advance(&mut earlier)?;
        self.delay(&mut earlier)?;
        let both = later.into_iter().zip(earlier);
        Some(
            both.map(|(later, earlier)| u64::midpoint(later, earlier))
                .collect(),
        )
    }
}
