//! Places in sorted columns, for callers that ask for one near the one before.

/// A place in a sorted column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor(usize);

impl Cursor {
    /// The first place of which something is not so that is so of all before it, as
    /// [`slice::partition_point`] finds it; it takes as many steps as the distance from the place that was
    /// found last has digits.
    #[inline]
    pub(super) fn partition_point<T>(&mut self, column: &[T], is_so: impl Fn(&T) -> bool) -> usize {
        let is_so_at = |place: usize| column.get(place).is_some_and(&is_so);
        let (mut from, mut step) = (self.0.min(column.len()), 1);
        let to = if is_so_at(from) {
            from += 1;
            while is_so_at(from + step - 1) {
                from += step;
                step *= 2;
            }
            (from + step - 1).min(column.len())
        } else {
            let mut to = from;
            while to > 0 && !is_so_at(to.saturating_sub(step)) {
                to = to.saturating_sub(step);
                step *= 2;
            }
            from = to.saturating_sub(step);
            to
        };
        let between = column.get(from..to).unwrap_or_default();
        self.0 = from + between.partition_point(is_so);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_partition_point_wherever_it_was(
            mut column in prop::collection::vec(0..50_u32, 0..200),
            asked in prop::collection::vec(0..51_u32, 1..20),
        ) {
            column.sort_unstable();
            let mut cursor = Cursor::default();
            for limit in asked {
                let found = cursor.partition_point(&column, |it| *it < limit);
                prop_assert_eq!(found, column.partition_point(|it| *it < limit));
            }
        }
    }
}
