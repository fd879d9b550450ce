//! The stays of a track, placed from the outermost to the innermost.

use std::ops::Range;

use super::row::{Block, BlockGroup, REPAIRED, Row};

/// How often stays of a row that were pushed away are let go and the others placed anew, and how often
/// all of a track is, since what surrounds such stays has to follow the map. Few times are needed; what
/// takes more follows the map as a whole.
const ROUNDS: usize = 16;

/// A stay, its inner ones and where they have to stay: what is still to be placed.
struct Inside {
    /// The blocks that lie in it, those deeper inside among them.
    blocks: Range<usize>,
    /// The stay that surrounds them; `None` for a whole track.
    around: Option<Block>,
}

/// The blocks of a track while they are placed.
pub(super) struct TrackBlocks {
    pub(super) blocks: Vec<Block>,
    /// True if none may follow the map.
    pub(super) keep_lengths: bool,
    /// True if some follow the map in one that does not.
    pub(super) is_open: bool,
}

impl TrackBlocks {
    /// Places all blocks so that those which keep their lengths are near to where they would be alone.
    pub(super) fn place_near(&mut self) -> Option<()> {
        let wanted: Vec<u64> = self.blocks.iter().map(|it| it.place).collect();
        for _ in 0..ROUNDS {
            self.is_open = false;
            self.place_all()?;
            if !self.is_open {
                return Some(());
            }
            let kept = self.blocks.iter_mut().zip(&wanted);
            for (block, &wanted) in kept.filter(|it| !it.0.is_mapped) {
                block.place = wanted;
            }
        }
        self.blocks.iter_mut().for_each(Block::follow);
        Some(())
    }

    fn place_all(&mut self) -> Option<()> {
        let mut waiting = vec![Inside {
            blocks: 0..self.blocks.len(),
            around: None,
        }];
        while let Some(inside) = waiting.pop() {
            let groups = self.groups(inside.blocks);
            for group in &groups {
                let blocks = self.blocks.get(group.clone())?;
                if blocks.iter().any(|it| it.is_mapped) {
                    self.follow(group)?;
                }
            }
            self.place(&groups, inside.around)?;
            for group in groups {
                let Some(&first) = self.blocks.get(group.start) else {
                    continue;
                };
                let inner = group.start + 1..group.end;
                if !self.crosses(&group) {
                    if !inner.is_empty() {
                        waiting.push(Inside {
                            blocks: inner,
                            around: Some(first),
                        });
                    }
                } else if !first.is_mapped {
                    for it in self.blocks.get_mut(inner)? {
                        it.place = first.place.checked_add(it.begin - first.begin)?;
                    }
                }
            }
        }
        Some(())
    }

    /// True if some of a group end after its first does.
    fn crosses(&self, group: &Range<usize>) -> bool {
        let blocks = self.blocks.get(group.clone()).unwrap_or_default();
        let mut ends = blocks.iter().map(|it| it.end);
        ends.next().is_some_and(|first| ends.any(|it| it > first))
    }

    /// Lets both ends of a group go where the map says: those of its first, around the others, or
    /// of all that cross.
    fn follow(&mut self, group: &Range<usize>) -> Option<()> {
        let count = if self.crosses(group) { group.len() } else { 1 };
        let blocks = self.blocks.get_mut(group.clone())?.iter_mut();
        blocks.take(count).for_each(Block::follow);
        Some(())
    }

    /// Blocks that follow each other: each with those that begin before it, or any of them,
    /// ends.
    fn groups(&self, blocks: Range<usize>) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut end = 0;
        for at in blocks {
            let Some(block) = self.blocks.get(at) else {
                break;
            };
            match groups.last_mut() {
                Some(last) if block.begin < end => last.end = at + 1,
                _ => {
                    groups.push(at..at + 1);
                    end = 0;
                }
            }
            end = end.max(block.end);
        }
        groups
    }

    /// Places blocks that follow each other in what surrounds them.
    fn place(&mut self, groups: &[Range<usize>], around: Option<Block>) -> Option<()> {
        for _ in 0..ROUNDS {
            let row = self.row(groups, around)?;
            let places = row.middle();
            if row.has_fixed() && !places.as_ref().is_some_and(|it| row.is_kept_by(it)) {
                break;
            }
            let places = places?;
            let mut are_near = true;
            for ((range, group), &place) in groups.iter().zip(&row.groups).zip(&places) {
                let is_pushed = place.abs_diff(group.first.place) > REPAIRED;
                if is_pushed && !group.first.is_mapped && !self.keep_lengths {
                    self.follow(range)?;
                    are_near = false;
                }
            }
            if are_near {
                for (group, place) in groups.iter().zip(places) {
                    self.blocks.get_mut(group.start)?.place = place;
                }
                return Some(());
            }
            self.is_open |= around.is_some_and(|it| !it.is_mapped);
        }
        // There is no room.
        groups.iter().try_for_each(|it| self.follow(it))
    }

    fn row(&self, groups: &[Range<usize>], around: Option<Block>) -> Option<Row> {
        let group = |range: &Range<usize>| {
            let blocks = self.blocks.get(range.clone())?;
            let first = *blocks.first()?;
            let end = blocks.iter().map(|it| it.end).max()?;
            let length = if first.is_mapped {
                let mapped = blocks.iter().filter(|it| it.is_mapped);
                let end = mapped.map(|it| it.mapped.end).max()?;
                end.saturating_sub(first.mapped.begin)
            } else {
                end - first.begin
            };
            Some(BlockGroup { first, end, length })
        };
        Some(Row {
            groups: groups.iter().map(group).collect::<Option<_>>()?,
            around,
        })
    }
}
