//! A straight line per clock: constant drift.
//!
//! Per pair of clocks the least aligned latency there and back in each of 64
//! windows gives the difference of the clocks in that window, half of there minus
//! back; the median of the slopes between all windows (Theil-Sen) is their
//! relative drift, and the median of what is left their offset. It takes no
//! notice of up to a quarter of windows gone wrong. Pairs are joined to a
//! spanning tree, those first whose windows lie closest to their line, so that each clock gets its
//! line along the best pairs (Jezequel's idea); where rates differ by more than those of clocks do,
//! those last that were heard in few windows.
//!
//! Lines here are sums of many small corrections, all over one axis that starts
//! at 0, so floats hold them. What one clock differs from another by, over its
//! own stamps and in whole ticks, is `clock_line` of `retime-methods`; what an estimate does
//! to a clock overall, `line` of `retime-bounds`.
//!
//! The lines are kept if the sum of negative latencies
//! does not grow by them: for clocks that jump, a line can be worse than none.

use super::frame::Frame;
use super::line::Line;
use super::links::{Link, Links};
use super::options::OPTIONS;
use retime_model::{Cancelled, Monitor};
use retime_numerics::median::median;
use retime_numerics::parallel;

/// Adds lines to the frame, `rounds` times. Fails only if `monitor` says to give up.
pub(super) fn add_lines(
    links: &Links,
    frame: &mut Frame,
    rounds: usize,
    monitor: &dyn Monitor,
) -> Result<AddedLines, Cancelled> {
    let mut known = Latencies::of(links, frame);
    let before = known.reversed;
    let mut steepest = 0.0;
    for _ in 0..rounds {
        let more = tree(links, frame, monitor)?;
        let tilted = frame.clone().tilted(&more.lines);
        let now = Latencies::of(links, &tilted);
        if now.reversed > known.reversed || !now.reversed.is_finite() {
            break;
        }
        steepest = f64::max(steepest, more.steepest);
        (*frame, known) = (tilted, now);
    }
    Ok(AddedLines {
        are_steep: steepest > OPTIONS.proven && known.reversed * OPTIONS.stiffer < before,
        least: known.least,
    })
}

/// The lines that were added, by what they do to the dependencies.
pub(super) struct AddedLines {
    /// The least latency of each link with them.
    pub(super) least: Vec<f64>,
    /// True if clocks run at rates that differ by more than those of clocks do: a pair that was heard
    /// in many windows says so, since any line explains a few dependencies, and lines leave less than a
    /// tenth of what was reversed, in sum.
    pub(super) are_steep: bool,
}

/// Aligned latencies, summed up.
struct Latencies {
    /// How far below zero they are, all together.
    reversed: f64,
    /// The least of each link.
    least: Vec<f64>,
}

impl Latencies {
    fn of(links: &Links, frame: &Frame) -> Self {
        let of = |link: &Link| {
            let latencies = links
                .of(link)
                .iter()
                .map(|point| frame.see(link, point).latency);
            latencies.fold((0.0, f64::INFINITY), |(reversed, least), it| {
                (reversed + (-it).max(0.0), f64::min(least, it))
            })
        };
        let by_link: Vec<(f64, f64)> = parallel::map(links.list(), of);
        Self {
            reversed: by_link.iter().map(|it| it.0).sum(),
            least: by_link.into_iter().map(|it| it.1).collect(),
        }
    }
}

/// The difference of two clocks as a line, and how far windows are from it.
struct Fit {
    low: usize,
    high: usize,
    /// To be added to `high` to show what `low` does.
    line: Line,
    spread: f64,
    /// In so many windows both directions were heard.
    windows: usize,
}

impl Fit {
    /// True if few windows tell: any line is straight through one or two.
    fn is_of_few(&self) -> bool {
        self.windows < OPTIONS.fewest
    }
}

/// Lines along a spanning tree.
struct Tree {
    /// Per clock; zero at the reference.
    lines: Vec<Line>,
    /// The largest difference of rates, as a fraction, of a pair that was heard in more than a few windows.
    steepest: f64,
}

/// Lines along the spanning tree of the straightest pairs.
fn tree(links: &Links, frame: &Frame, monitor: &dyn Monitor) -> Result<Tree, Cancelled> {
    let list = links.list();
    let pairs = (0..list.len()).filter(|&at| list[at].from < list[at].to);
    let pairs: Vec<usize> = pairs.collect();
    let fit = |&at: &usize| {
        monitor.check()?;
        let back = links.opposite(at);
        Ok(back.and_then(|back| fit(links, frame, &list[at], &list[back])))
    };
    let fits: Vec<Option<Fit>> = parallel::try_map(&pairs, fit)?;
    let mut fits: Vec<Fit> = fits.into_iter().flatten().collect();
    // A pair that was heard in one window says that rates are alike, which is as good a guess as any
    // unless others show that they are not.
    let is_steep = |it: &Fit| !it.is_of_few() && it.line.drift.abs() > OPTIONS.proven;
    let are_steep = fits.iter().any(is_steep);
    let is_last = |it: &Fit| are_steep && it.is_of_few();
    fits.sort_by(|a, b| {
        let few = is_last(a).cmp(&is_last(b));
        let spread = few.then(a.spread.total_cmp(&b.spread));
        spread.then((a.low, a.high).cmp(&(b.low, b.high)))
    });
    let mut group: Vec<usize> = (0..links.clocks()).collect();
    let mut lines = vec![Line::default(); links.clocks()];
    let mut members: Vec<Vec<usize>> = group.iter().map(|&it| vec![it]).collect();
    let mut steepest = 0.0;
    for fit in fits {
        let (low, high) = (group[fit.low], group[fit.high]);
        if low == high {
            continue;
        }
        if !fit.is_of_few() {
            steepest = f64::max(steepest, fit.line.drift.abs());
        }
        // The whole tree of one end is tilted to fit the other's, the smaller one.
        let gap = lines[fit.low] + fit.line - lines[fit.high];
        let (kept, moved, tilt) = if members[low].len() >= members[high].len() {
            (low, high, gap)
        } else {
            (high, low, -gap)
        };
        let joining = std::mem::take(&mut members[moved]);
        for &clock in &joining {
            lines[clock] = lines[clock] + tilt;
            group[clock] = kept;
        }
        members[kept].extend(joining);
    }
    keep_reference(frame.reference, &group, &mut lines);
    Ok(Tree { lines, steepest })
}

/// Tilts the tree of the reference such that its time stays as it is.
fn keep_reference(reference: usize, group: &[usize], lines: &mut [Line]) {
    let (Some(&own), Some(&zero)) = (group.get(reference), lines.get(reference)) else {
        return;
    };
    let tree = lines.iter_mut().zip(group).filter(|it| *it.1 == own);
    for (line, _) in tree {
        *line = *line - zero;
    }
}

fn fit(links: &Links, frame: &Frame, forth: &Link, back: &Link) -> Option<Fit> {
    let there = least(links, frame, forth);
    let back = least(links, frame, back);
    let middle = |window: usize| {
        let difference = (back[window] - there[window]) / 2.0;
        let time = (window as f64 + 0.5) * frame.axis.span / OPTIONS.windows as f64;
        difference.is_finite().then_some((time, difference))
    };
    let points: Vec<(f64, f64)> = (0..OPTIONS.windows).filter_map(middle).collect();
    let line = Line::theil_sen(&points)?;
    let mut rests: Vec<f64> = points
        .iter()
        .map(|&(x, y)| (y - line.at(x)).abs())
        .collect();
    // Fewer windows make a line look better.
    let spread = median(&mut rests)? + frame.axis.span * 1e-9 / points.len() as f64;
    Some(Fit {
        low: forth.from,
        high: forth.to,
        line,
        spread,
        windows: points.len(),
    })
}

/// The least latency in each window; infinite where there is none.
fn least(links: &Links, frame: &Frame, link: &Link) -> [f64; OPTIONS.windows] {
    let mut least = [f64::INFINITY; OPTIONS.windows];
    for point in links.of(link) {
        let seen = frame.see(link, point);
        let time = f64::midpoint(seen.sent, seen.received);
        let window = (time * (OPTIONS.windows as f64 / frame.axis.span)) as usize;
        let least = &mut least[window.min(OPTIONS.windows - 1)];
        *least = least.min(seen.latency);
    }
    least
}

#[cfg(test)]
mod tests {
    use crate::align_edges;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    const LAST: i64 = 2_000_000_000;

    /// The last of three clocks runs 5 % faster than it says.
    fn shown(clock: usize, time: i64) -> i64 {
        match clock {
            2 => time + time / 20 - 7_000,
            _ => time,
        }
    }

    /// Messages of 300 to 309 ticks in `rounds`: the second clock exchanges them with the others, the
    /// other two with each other in the first round alone.
    fn exchange(rounds: i64) -> Edges {
        let message = |round: i64, from: usize, to: usize| {
            let sent = round * (LAST / rounds) + 1_000 * from as i64;
            let received = sent + 300 + (round * 7 + to as i64) % 10;
            Edge::message(
                ClockId(from as u32),
                shown(from, sent),
                ClockId(to as u32),
                shown(to, received),
            )
        };
        let ways = [(0, 1), (1, 0), (1, 2), (2, 1)];
        let all = (0..rounds).flat_map(|round| ways.map(|(from, to)| message(round, from, to)));
        let first = [message(0, 0, 2), message(0, 2, 0)];
        let extent = |clock| Some((shown(clock, 0), shown(clock, LAST)));
        Edges::new(all.chain(first).collect(), (0..3).map(extent).collect())
    }

    /// The largest distance of the last clock from the time it should show.
    fn worst(rounds: i64) -> f64 {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let alignment = align_edges(&exchange(rounds), rate, ClockId(0), &()).unwrap();
        assert!(alignment.steps.is_empty(), "{:?}", alignment.steps);
        let offset = alignment.estimate.offsets[2].as_ref().unwrap();
        let error = |part: i64| {
            let time = LAST / 20 * part;
            let stamp = shown(2, time);
            (stamp as f64 + offset.at(stamp) - time as f64).abs()
        };
        (1..20).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn a_frequency_that_was_declared_wrongly_is_a_line() {
        let worst = worst(2_000);
        assert!(worst < 20.0, "{worst}");
    }
}
