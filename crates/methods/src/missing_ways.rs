//! Bounds for which there are no messages: guesses that fill gaps.
//!
//! Steps (b1) and (b2) of the extended method of Hofmann & Hilgers; see
//! [`extended`](crate::extended()).

use crate::SubIntervals;
use crate::closure::DifferenceBounds;
use crate::pair_bounds::PairBounds;
use retime::ClockId;

/// `(i, k, O-(i,k))`: `C_i - C_k` is presumably at most this.
pub(crate) type Guess = (ClockId, ClockId, i64);

/// The smallest factor.
const LEAST: f64 = 2.0;

/// How much longer the longest delay is than the shortest: of the fastest round
/// trip of each pair of clocks in any sub-interval; at least 2. `delays` are
/// bounds at a minimal delay of 0.
pub(crate) fn factor(delays: &PairBounds, pieces: usize) -> f64 {
    let mut fastest: Vec<(ClockId, ClockId, i64)> = Vec::new();
    for piece in 0..pieces {
        for (i, k, upper) in delays.uppers(piece).filter(|(i, k, _)| i < k) {
            if let Some(lower) = delays.lower(piece, i, k) {
                fastest.push((i, k, upper.saturating_sub(lower)));
            }
        }
    }
    fastest.sort_unstable();
    fastest.dedup_by_key(|&mut (i, k, _)| (i, k));
    let trips = || fastest.iter().map(|&(_, _, trip)| trip.max(1));
    match (trips().max(), trips().min()) {
        (Some(longest), Some(shortest)) => (longest as f64 / shortest as f64).max(LEAST),
        _ => LEAST,
    }
}

/// (b1): where messages of a sub-interval go one way only, the missing bound;
/// none where no pair has messages both ways.
pub(crate) fn guesses(bounds: &PairBounds, piece: usize, factor: f64) -> Vec<Guess> {
    let width = |(i, k, upper): Guess| Some(upper.saturating_sub(bounds.lower(piece, i, k)?));
    let Some(least) = bounds.uppers(piece).filter_map(width).min() else {
        return Vec::new();
    };
    let width = (factor * least.max(0) as f64).ceil() as i64;
    let one_way = bounds
        .uppers(piece)
        .filter(|&(i, k, _)| bounds.lower(piece, i, k).is_none());
    // C_i - C_k <= upper is known, C_k - C_i <= width - upper is not.
    one_way
        .map(|(i, k, upper)| (k, i, width.saturating_sub(upper)))
        .collect()
}

/// (b2): a bound that is open on a boundary, from those before and after it.
pub(crate) fn interpolated(
    closed: &[DifferenceBounds],
    pieces: &SubIntervals,
    boundary: usize,
    i: ClockId,
    k: ClockId,
    drift: f64,
) -> Option<i64> {
    let known = |at: usize| Some((at, closed.get(at)?.upper(i, k)?));
    let before = (0..boundary).rev().find_map(known);
    let after = (boundary + 1..closed.len()).find_map(known);
    let distance = |at: usize| {
        let (one, other) = (pieces.boundary(i, at), pieces.boundary(i, boundary));
        other.abs_diff(one) as f64
    };
    let widened = |limit: i64, by: f64| limit.saturating_add(by.ceil() as i64);
    match (before, after) {
        (Some((at, limit)), None) | (None, Some((at, limit))) => {
            Some(widened(limit, 2.0 * drift * distance(at)))
        }
        (Some((from, first)), Some((to, last))) => {
            let (past, ahead) = (distance(from), distance(to));
            let whole = (past + ahead).max(1.0);
            let change = (i128::from(last) - i128::from(first)) as f64 * past / whole;
            Some(widened(first, change + 4.0 * drift * past * ahead / whole))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime::edges::{Edge, Edges};

    const A: ClockId = ClockId(0);
    const B: ClockId = ClockId(1);
    const C: ClockId = ClockId(2);

    fn edges() -> Edges {
        // a and b exchange, round trip 10, and 25 later; c only sends to b.
        let edges = vec![
            Edge::message(A, 0, B, 4),
            Edge::message(B, 10, A, 16),
            Edge::message(C, 20, B, 27),
            Edge::message(A, 80, B, 90),
            Edge::message(B, 85, A, 100),
        ];
        Edges::new(edges, vec![None; 3])
    }

    #[test]
    fn a_missing_way_is_guessed_from_the_tightest_pair() {
        let edges = edges();
        let pieces = SubIntervals::divide(&edges, 2, &()).unwrap();
        let bounds = PairBounds::collect(&edges, &|_| 0, &pieces, &()).unwrap();
        // b - c <= 7, so c - b <= 3 * 10 - 7.
        assert_eq!(guesses(&bounds, 0, 3.0), [(C, B, 23)]);
        assert_eq!(guesses(&bounds, 1, 3.0), []);
        assert_eq!(guesses(&bounds, 7, 3.0), []);
    }

    #[test]
    fn the_factor_compares_the_fastest_round_trips_of_pairs() {
        let edges = edges();
        let pieces = SubIntervals::divide(&edges, 2, &()).unwrap();
        let close = |factor: f64, to: f64| (factor - to).abs() < 1e-12;
        let bounds = PairBounds::collect(&edges, &|_| 0, &pieces, &()).unwrap();
        assert!(close(factor(&bounds, 2), 2.0));
        let mut more = edges.all().to_vec();
        more.push(Edge::message(B, 30, C, 58));
        let edges = Edges::new(more, vec![None; 3]);
        let bounds = PairBounds::collect(&edges, &|_| 0, &pieces, &()).unwrap();
        assert!(close(factor(&bounds, 2), 3.5));
    }

    #[test]
    fn gaps_are_filled_from_both_sides() {
        let pieces = SubIntervals::divide(&edges(), 4, &()).unwrap();
        let open = DifferenceBounds::new(3);
        let bounded = |limit: i64| {
            let mut bounds = open.clone();
            bounds.at_most(A, B, limit);
            bounds
        };
        let closed = [
            bounded(40),
            open.clone(),
            open.clone(),
            open.clone(),
            bounded(80),
        ];
        let at =
            |boundary: usize, drift: f64| interpolated(&closed, &pieces, boundary, A, B, drift);
        assert_eq!(
            (at(1, 0.0), at(2, 0.0), at(3, 0.0)),
            (Some(50), Some(60), Some(70))
        );
        // 2 * 25 * 75 / 100 = 37.5 away, at twice 4 %.
        assert_eq!(at(1, 0.04), Some(53));
        let closed = [open.clone(), open.clone(), bounded(80)];
        assert_eq!(interpolated(&closed, &pieces, 0, A, B, 0.04), Some(84));
        assert_eq!(interpolated(&closed, &pieces, 0, B, A, 0.04), None);
    }
}
