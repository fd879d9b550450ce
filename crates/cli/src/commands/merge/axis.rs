//! Where traces that nothing relates stand beside each other.
//!
//! Times of different clocks can be compared if these show about the same, as clocks of the day do.
//! A trace that overlaps with none before it has another, such as one that counts since the machine
//! was booted, and begins where the file does:
//!
//! ```text
//! profiles     1790000000 s  ..  1790000060 s       stay
//! packets             4711 s  ..  4770 s            from 1790000000 s on
//! ```

use retime::format::Extent;

use super::part::Part;

/// The nanoseconds by which the documents of each trace are put later.
pub(super) fn later(parts: &[Part]) -> Vec<i64> {
    placed(parts.iter().map(|it| {
        let extents = it.shown.documents.iter().filter_map(|it| it.extent);
        extents.reduce(together)
    }))
}

fn together(a: Extent, b: Extent) -> Extent {
    Extent {
        first: a.first.min(b.first),
        last: a.last.max(b.last),
    }
}

fn placed(extents: impl Iterator<Item = Option<Extent>>) -> Vec<i64> {
    let mut before: Option<Extent> = None;
    let place = |extent: Option<Extent>| {
        let Some(own) = extent else {
            return 0;
        };
        let Some(known) = before else {
            before = Some(own);
            return 0;
        };
        let overlaps = own.first <= known.last && known.first <= own.last;
        let by = if overlaps {
            0
        } else {
            known.first.saturating_sub(own.first)
        };
        let moved = Extent {
            first: own.first.saturating_add(by),
            last: own.last.saturating_add(by),
        };
        before = Some(together(known, moved));
        by
    };
    extents.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_elsewhere_is_moved() {
        let extent = |first, last| Some(Extent { first, last });
        let all = [
            extent(1000, 1100),
            None,
            extent(1050, 1200),
            extent(5, 400),
            extent(1300, 1301),
        ];
        assert_eq!(placed(all.into_iter()), [0, 0, 0, 995, 0]);
    }
}
