//! Numbers of things that stay only because somebody may still ask for them, oldest first.

use std::collections::VecDeque;

/// Numbers in the order in which they were added; each can be taken out at any time.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Numbers and their turns, some of them no longer in it.
    order: VecDeque<(u32, u64)>,
    /// The turn of each number, 0 if it is not in it.
    turns: Vec<u64>,
    last_turn: u64,
    len: usize,
}

impl Kept {
    /// Adds a number, as the newest.
    pub(crate) fn add(&mut self, number: u32) {
        self.remove(number);
        self.last_turn += 1;
        if self.turns.len() <= number as usize {
            self.turns.resize(number as usize + 1, 0);
        }
        self.turns[number as usize] = self.last_turn;
        self.order.push_back((number, self.last_turn));
        self.len += 1;
        // At least as many have been taken out since as are looked at here.
        if self.order.len() > 2 * self.len + 64 {
            let turns = &self.turns;
            self.order
                .retain(|&(number, turn)| turns[number as usize] == turn);
        }
    }

    /// Takes a number out; whether it was in it.
    pub(crate) fn remove(&mut self, number: u32) -> bool {
        let turn = self.turns.get_mut(number as usize).map(std::mem::take);
        let was_kept = turn.is_some_and(|turn| turn > 0);
        self.len -= usize::from(was_kept);
        was_kept
    }

    /// True if a number is in it.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.turns
            .get(number as usize)
            .is_some_and(|&turn| turn > 0)
    }

    /// The oldest number.
    pub(crate) fn oldest(&mut self) -> Option<u32> {
        loop {
            let &(number, turn) = self.order.front()?;
            if self.turns[number as usize] == turn {
                return Some(number);
            }
            self.order.pop_front();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_comes_first_and_what_was_taken_out_never() {
        let mut kept = Kept::default();
        (0..1_000).for_each(|number| kept.add(number));
        (0..1_000).filter(|it| it % 10 != 3).for_each(|number| {
            assert!(kept.remove(number) && !kept.remove(number));
        });
        kept.add(3);
        assert_eq!((kept.len(), kept.oldest()), (100, Some(13)));
        assert!(kept.order.len() < 300);
        for number in (13..1_000).step_by(10) {
            assert!(kept.contains(number));
            assert_eq!(kept.oldest(), Some(number));
            kept.remove(number);
        }
        assert_eq!(kept.oldest(), Some(3));
        kept.remove(3);
        assert_eq!((kept.len(), kept.oldest()), (0, None));
    }
}
