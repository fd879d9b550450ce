//! The few dependencies that can be the tightest, whatever the drift.
//!
//! Clocks that drift are put right by straight maps, and what these leave of a
//! latency `l` of a dependency that was sent at `s` is, within a link,
//!
//! ```text
//! (1 + b_to) l + (b_to - b_from) s + constant          b the drifts that are removed
//! ```
//!
//! a linear function of the point `(s, l)` that rises with `l`. So the tightest
//! dependency of a link in a stretch of time is a vertex of the lower hull of its
//! points, whatever the drifts are. *Lower layers* go on from there: the first is
//! the lower hull, the second the lower hull of what is left without its vertices,
//! and so on.
//!
//! **The `k` tightest are in the first `k` layers.** Let a point lie in layer `d`.
//! In each layer before, the least of what was left then, by value and of equal
//! values by `s`, is a vertex of that layer, and comes before the point. These
//! `d - 1` are different, so at least `d - 1` come before it; if the point is one
//! of the first `k`, then `d <= k`.
//!
//! **Layers can be merged in any order.** Let `A` be a part of `U`, and `A_i`, `U_i`
//! what is left of them after `i` layers. `A_i` is a part of `U_i`: a vertex of
//! `U_i` that belongs to `A_i` is a vertex of `A_i` too, so whatever leaves `U` leaves `A` no
//! later. So a point lies in no earlier layer of `U` than of `A`, and what is not
//! in the first `k` layers of its part is not in those of the whole. And points
//! of deeper layers have no influence on those before. Hence the first `k` layers of a union
//! are those of the union of the parts' first `k` layers, and a [`Reduced`] trace
//! of many parts is the same however they were cut and merged.
//!
//! A stretch with few dependencies is kept whole: nothing would be gained. Whether
//! there are few is known of the whole only, but a part with more has to belong to
//! a whole with more, so that this too does not depend on how a trace was cut.
//!
//! Coordinates are whole ticks, and the turn of three points is computed exactly.
//! Where clocks are not straight inside a stretch, a dependency of a deeper layer
//! may be a little tighter than those that are kept; stretches are as short as
//! the pieces that are tried, so that maps are straight inside them.
//!
//! Source: lower hulls by A. M. Andrew, *Another efficient algorithm for convex
//! hulls in two dimensions* (1979); layers by peeling, B. Chazelle, *On the convex
//! layers of a planar set* (1985). That the hull of a message cloud is all that a
//! line can touch is Duda's (Duda, Harrus, Haddad, Bernard 1987).

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::axis::Axis;
use retime_causality::edges::Edge;
use retime_causality::edges::{Source, each_part_watched};
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, packed, packed_fields};
use retime_numerics::hull::{Planar, lower_hull};
use retime_numerics::parallel;

/// A stretch of no more dependencies is kept whole.
const FEW: usize = 32;
/// An open stretch takes so many points, or twice as many as it was left with,
/// before it is peeled again.
const BUFFER: usize = 256;
/// Cells that are merged at one go: many enough that setting up costs little.
const BATCH: usize = 1 << 12;

/// A dependency of a link: when it was sent and received, in raw ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct LinkPoint {
    pub(super) sent: i64,
    pub(super) received: i64,
}

packed_fields!(LinkPoint {
    sent: i64,
    received: i64
});

impl LinkPoint {
    pub(super) const fn latency(&self) -> i64 {
        self.received.wrapping_sub(self.sent)
    }
}

/// The key by which a dependency is the same as another: its clocks and stamps.
pub(super) type Same = (ClockId, ClockId, i64, i64);

/// The key of `edge`.
pub(super) fn same(edge: &Edge) -> Same {
    (edge.from, edge.to, edge.sent, edge.received)
}

/// How dependencies are put into stretches of time, and how many are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reduction {
    /// When something was sent, on the common axis.
    pub(super) axis: Axis,
    /// How many stretches of equal length there are.
    pub(super) windows: usize,
    /// Lower layers that are kept of each.
    pub(super) layers: usize,
}

/// A link in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The number of its window.
    pub(super) window: u32,
    /// How many dependencies there are in truth.
    pub(super) count: u32,
    /// Its points end here; they begin where those of the cell before end.
    end: u64,
}

packed_fields!(Cell {
    from: u32,
    to: u32,
    window: u32,
    count: u32,
    end: u64,
});

impl Cell {
    /// Leaves what counts of its sorted points.
    fn peel(&self, points: &mut Vec<LinkPoint>, layers: usize) {
        if self.count as usize > FEW {
            keep_layers(points, layers);
        }
    }
}

/// A cell of a part, by its place. The key stands beside it, so that sorting looks at nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Located {
    /// Clocks and window.
    key: [u32; 3],
    part: u32,
    cell: u32,
}

impl Located {
    fn new(of: &Cell, part: u32, cell: u32) -> Self {
        Self {
            key: [of.from, of.to, of.window],
            part,
            cell,
        }
    }
}

/// Cuts a sorted list into batches of [`BATCH`] cells and those with the key of the last.
fn batches(order: &[Located]) -> Vec<&[Located]> {
    let mut batches = Vec::with_capacity(order.len() / BATCH + 1);
    let mut rest = order;
    while let Some(last) = rest.get(BATCH - 1).or(rest.last()) {
        let end = rest.len().min(BATCH);
        let more = rest[end..].iter().take_while(|it| it.key == last.key);
        let (batch, after) = rest.split_at(end + more.count());
        batches.push(batch);
        rest = after;
    }
    batches
}

/// The number of dependencies of each link, in the order of links.
pub(super) type Counted = Vec<((usize, usize), usize)>;

/// A trace, or a part of it, reduced to the lower layers of each link and stretch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reduced {
    layers: usize,
    /// Into how many windows the run is cut.
    windows: usize,
    /// One entry per link and stretch.
    #[serde(with = "packed")]
    cells: Vec<Cell>,
    /// The points of all cells, one cell after the other, each in the order of sends.
    #[serde(with = "packed")]
    points: Vec<LinkPoint>,
}

impl Reduced {
    /// Reduces all that a source has, but for what is left out.
    pub(super) fn new(
        source: &dyn Source,
        reduction: &Reduction,
        left_out: &FxHashSet<Same>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let parts = each_part_watched(source, monitor, |part| {
            let mut open = Open::new(reduction, left_out);
            source.walk(part, &mut |edge| open.add(&edge));
            open.finish()
        })?;
        Ok(Self::merged(&parts, Open::new(reduction, left_out).reduced))
    }

    /// Both in one.
    #[cfg(test)]
    fn merge(self, other: Self) -> Self {
        let empty = Self {
            cells: Vec::new(),
            points: Vec::new(),
            ..self
        };
        Self::merged(&[self, other], empty)
    }

    /// All in one, beginning with nothing.
    fn merged(parts: &[Self], mut merged: Self) -> Self {
        let mut order: Vec<Located> = Vec::new();
        for (part, reduced) in (0..).zip(parts) {
            let cells = (0..).zip(&reduced.cells);
            order.extend(cells.map(|(cell, it)| Located::new(it, part, cell)));
        }
        order.par_sort_unstable();
        let join = |order: &[Located]| {
            let mut joined = merged.clone();
            let mut points = Vec::new();
            for same in order.chunk_by(|a, b| a.key == b.key) {
                points.clear();
                let cell = |it: &Located| parts[it.part as usize].cells[it.cell as usize];
                for it in same {
                    points.extend_from_slice(parts[it.part as usize].of(it.cell as usize));
                }
                let whole = Cell {
                    count: same.iter().map(|it| cell(it).count).sum(),
                    ..cell(&same[0])
                };
                if same.len() > 1 {
                    sort(&mut points);
                    whole.peel(&mut points, merged.layers);
                }
                joined.close(whole, &points);
            }
            joined
        };
        let joined: Vec<Self> = parallel::map(&batches(&order), |it| join(it));
        merged
            .cells
            .reserve_exact(joined.iter().map(|it| it.cells.len()).sum());
        merged
            .points
            .reserve_exact(joined.iter().map(|it| it.points.len()).sum());
        for batch in &joined {
            let before = merged.points.len() as u64;
            let moved = batch.cells.iter().map(|cell| Cell {
                end: before + cell.end,
                ..*cell
            });
            merged.cells.extend(moved);
            merged.points.extend_from_slice(&batch.points);
        }
        merged
    }

    fn close(&mut self, cell: Cell, points: &[LinkPoint]) {
        self.points.extend_from_slice(points);
        let end = self.points.len() as u64;
        self.cells.push(Cell { end, ..cell });
    }

    /// Into how many windows the run is cut.
    pub(super) fn windows(&self) -> usize {
        self.windows
    }

    /// The cells, by link and stretch.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Counts the dependencies of each link, those left out among them, in the order of links.
    pub(super) fn counts(&self) -> Counted {
        let of_link = |a: &Cell, b: &Cell| (a.from, a.to) == (b.from, b.to);
        let links = self.cells.chunk_by(of_link);
        let count = |cells: &[Cell]| cells.iter().map(|it| it.count as usize).sum();
        links
            .map(|cells| ((cells[0].from as usize, cells[0].to as usize), count(cells)))
            .collect()
    }

    /// The points of the cell at a place, by when they were sent.
    pub(super) fn of(&self, cell: usize) -> &[LinkPoint] {
        let first = cell
            .checked_sub(1)
            .map_or(0, |before| self.cells[before].end);
        &self.points[first as usize..self.cells[cell].end as usize]
    }
}

/// A part under way: of each link the stretch that was met last is open.
struct Open<'a> {
    reduction: &'a Reduction,
    left_out: &'a FxHashSet<Same>,
    /// Windows per tick.
    rate: f64,
    number: FxHashMap<u64, u32>,
    /// Per number of a link: the open stretch, its points, and how many it takes.
    links: Vec<(Cell, Vec<LinkPoint>, usize)>,
    reduced: Reduced,
}

impl<'a> Open<'a> {
    fn new(reduction: &'a Reduction, left_out: &'a FxHashSet<Same>) -> Self {
        Self {
            rate: reduction.windows as f64 / reduction.axis.span,
            reduction,
            left_out,
            number: FxHashMap::default(),
            links: Vec::new(),
            reduced: Reduced {
                layers: reduction.layers,
                windows: reduction.windows,
                ..Reduced::default()
            },
        }
    }

    #[inline]
    fn add(&mut self, edge: &Edge) {
        if !self.left_out.is_empty() && self.left_out.contains(&same(edge)) {
            return;
        }
        let window = self.window(edge);
        let key = u64::from(edge.from.0) << 32 | u64::from(edge.to.0);
        let known = self.links.len() as u32;
        let at = *self.number.entry(key).or_insert(known);
        if at == known {
            let cell = Cell {
                from: edge.from.0,
                to: edge.to.0,
                window,
                count: 0,
                end: 0,
            };
            self.links.push((cell, Vec::new(), BUFFER));
        }
        let (cell, points, full) = &mut self.links[at as usize];
        if cell.window != window {
            sort(points);
            cell.peel(points, self.reduction.layers);
            self.reduced.close(*cell, points);
            points.clear();
            (cell.window, cell.count, *full) = (window, 0, BUFFER);
        }
        cell.count += 1;
        points.push(LinkPoint {
            sent: edge.sent,
            received: edge.received,
        });
        if points.len() >= *full {
            sort(points);
            keep_layers(points, self.reduction.layers);
            *full = BUFFER.max(2 * points.len());
        }
    }

    #[inline]
    fn window(&self, edge: &Edge) -> u32 {
        let time = self.reduction.axis.time(edge.from.as_usize(), edge.sent);
        ((time * self.rate) as usize).min(self.reduction.windows - 1) as u32
    }

    fn finish(mut self) -> Reduced {
        for (cell, mut points, _) in std::mem::take(&mut self.links) {
            sort(&mut points);
            cell.peel(&mut points, self.reduction.layers);
            self.reduced.close(cell, &points);
        }
        self.reduced
    }
}

/// Sorts points, which mostly come sorted.
fn sort(points: &mut [LinkPoint]) {
    if !points.is_sorted() {
        points.sort_unstable();
    }
}

/// Leaves the first lower layers of sorted points.
fn keep_layers(points: &mut Vec<LinkPoint>, layers: usize) {
    let mut rest = points.clone();
    let mut hull = Vec::with_capacity(rest.len());
    points.clear();
    for _ in 0..layers {
        lower_hull(&rest, &mut hull);
        points.extend(hull.iter().map(|&vertex| rest[vertex as usize]));
        // What lies between the vertices moves together.
        let (mut kept, mut place) = (0, 0);
        for &vertex in hull.iter().chain([&(rest.len() as u32)]) {
            let between = place..vertex as usize;
            place = between.end + 1;
            let moved = between.len();
            rest.copy_within(between, kept);
            kept += moved;
        }
        rest.truncate(kept);
        if rest.is_empty() {
            break;
        }
    }
    points.sort_unstable();
}

impl Planar for LinkPoint {
    fn is_beside(&self, other: &Self) -> bool {
        self.sent == other.sent
    }

    #[inline]
    fn is_below(&self, before: &Self, after: &Self) -> bool {
        // Stamps of a trace lie within 2^61 of each other, so that no difference wraps
        // and products of two of them fit. Of a list whose stamps do not, points
        // are lost that could be the tightest, and nothing worse happens.
        let run = |to: &Self| i128::from(to.sent.wrapping_sub(before.sent));
        let rise = |to: &Self| i128::from(to.latency().wrapping_sub(before.latency()));
        run(self) * rise(after) > rise(self) * run(after)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use retime_causality::edges::Edges;

    const LAYERS: usize = 3;

    fn reduced(edges: &[Edge], layers: usize) -> Reduced {
        let edges = Edges::new(edges.to_vec(), vec![Some((0, 1_000)); 3]);
        let reduction = Reduction {
            axis: Axis::new(&edges, vec![0; 3]),
            windows: 4,
            layers,
        };
        Reduced::new(&edges, &reduction, &FxHashSet::default(), &()).unwrap()
    }

    /// A batch ends where a key does, even if all that follow have the key of its last cell.
    #[test]
    fn a_key_is_never_cut() {
        let located = |count: u32, window: u32| {
            (0..count).map(move |cell| Located {
                key: [0, 1, window],
                part: 0,
                cell,
            })
        };
        let many = BATCH as u32;
        let order: Vec<Located> = located(many - 1, 0)
            .chain(located(3, 1))
            .chain(located(2 * many, 2))
            .collect();
        let lengths: Vec<usize> = batches(&order).iter().map(|it| it.len()).collect();
        assert_eq!(lengths, [BATCH + 2, 2 * BATCH]);
        assert!(batches(&[]).is_empty());
    }

    fn edges() -> impl Strategy<Value = Vec<Edge>> {
        let edge = (0..3_u32, 1..3_u32, 0..1_000_i64, -20..40_i64).prop_map(
            |(from, by, sent, latency)| {
                Edge::message(
                    ClockId(from),
                    sent,
                    ClockId((from + by) % 3),
                    sent + latency,
                )
            },
        );
        proptest::collection::vec(edge, 0..300)
    }

    proptest! {
        #[test]
        fn parts_merge_to_the_whole(edges in edges(), cut in 0..300_usize, second in 0..300_usize) {
            let (cut, second) = (cut.min(edges.len()), second.min(edges.len()));
            let (cut, second) = (cut.min(second), cut.max(second));
            let of = |part: &[Edge]| reduced(part, LAYERS);
            let whole = of(&edges);
            let parts = || (of(&edges[..cut]), of(&edges[cut..second]), of(&edges[second..]));
            let (a, b, c) = parts();
            prop_assert_eq!(&a.merge(b).merge(c), &whole);
            let (a, b, c) = parts();
            prop_assert_eq!(&c.merge(b.merge(a)), &whole);
        }

        #[test]
        fn dependencies_of_links_are_counted(edges in edges(), out in 0..300_usize) {
            let left_out: FxHashSet<Same> = edges.iter().skip(out).map(same).collect();
            let listed = Edges::new(edges.clone(), vec![Some((0, 1_000)); 3]);
            let reduction = Reduction {
                axis: Axis::new(&listed, vec![0; 3]),
                windows: 4,
                layers: 1,
            };
            let reduced = Reduced::new(&listed, &reduction, &left_out, &()).unwrap();
            let mut expected = std::collections::BTreeMap::new();
            for edge in edges.iter().filter(|it| !left_out.contains(&same(it))) {
                *expected.entry((edge.from.as_usize(), edge.to.as_usize())).or_insert(0) += 1;
            }
            prop_assert_eq!(reduced.counts(), expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn the_tightest_are_kept_whatever_the_drifts(
            edges in edges(),
            drifts in (-0.5..0.5_f64, -0.5..0.5_f64),
        ) {
            let (all, few) = (reduced(&edges, usize::MAX), reduced(&edges, LAYERS));
            prop_assert_eq!(all.cells.len(), few.cells.len());
            for cell in 0..all.cells.len() {
                let tightest = |points: &[LinkPoint]| {
                    let aligned = |it: &LinkPoint| {
                        it.latency() as f64 + drifts.0 * it.received as f64 - drifts.1 * it.sent as f64
                    };
                    let mut values: Vec<f64> = points.iter().map(aligned).collect();
                    values.sort_by(f64::total_cmp);
                    values.truncate(LAYERS);
                    values
                };
                prop_assert_eq!(tightest(all.of(cell)), tightest(few.of(cell)));
                prop_assert_eq!(all.cells[cell].count, few.cells[cell].count);
                prop_assert_eq!(all.cells[cell].count as usize, all.of(cell).len());
            }
        }
    }

    #[test]
    fn layers_are_peeled_one_after_the_other() {
        let at = |(sent, latency): (i64, i64)| LinkPoint {
            sent,
            received: sent + latency,
        };
        let mut points = [(0, 5), (1, 1), (1, 1), (2, 3), (3, 0), (4, 9), (5, 4)]
            .map(at)
            .to_vec();
        let mut first = points.clone();
        keep_layers(&mut first, 1);
        assert_eq!(first, [(0, 5), (1, 1), (3, 0), (5, 4)].map(at));
        keep_layers(&mut points, 2);
        let kept = [(0, 5), (1, 1), (1, 1), (2, 3), (3, 0), (4, 9), (5, 4)].map(at);
        assert_eq!(points, kept);
    }
}
