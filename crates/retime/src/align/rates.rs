//! Whether clocks differ in rate at all.
//!
//! Clocks that one quartz drives or one time service disciplines, and stamps that were
//! interpolated before, differ by constants. A line per clock then follows what messages
//! happened to be fast at the beginning of the run and slow at its end, and errs by several
//! times what constants do. So rates are taken for real only if lines fit these
//! messages better than they would by chance.
//!
//! What chance does is told by a permutation test. If clocks differ by constants, the latencies of
//! one stretch of the run tell as much of the offsets as those of any other, in whatever order the
//! stretches come: only drift makes their order matter. So the run is cut into 16 blocks, whose
//! inner order is kept, as loads that last make messages near each other alike, and
//!
//! ```text
//! F(p) = min over lines of  sum over the tight dependencies  w phi(slack),   blocks moved by p
//! rates differ  <=>  constants contradict a message,  or  F(identity) < F(p) for all p tried
//! p(b) = a b mod 17,    b = 1..16,  a = 2..8
//! ```
//!
//! with the [barrier](super::barrier) `phi` and the weights `w` of the constants. Multiplication
//! modulo a prime permutes its residues, and scatters a trend over the run; by `17 - a` it does
//! that in the opposite order, to which lines fit as well. So clocks without drift are given rates
//! in one of eight cases.
//!
//! Source: permutation tests, R. A. Fisher, *The Design of Experiments* (1935), section 21; that
//! blocks keep what is not independent within them, H. R. Künsch, *The Jackknife and the
//! Bootstrap for General Stationary Observations*, Annals of Statistics 17 (1989).

use super::active_set::{Aim, Bench, FoundOffsets, take_in};
use super::curves::Curves;
use super::division::Division;
use super::options::OPTIONS;
use super::survey::Surveyed;
use retime_model::Cancelled;

/// A prime: blocks are its residues but for 0.
const PRIME: usize = 17;
const BLOCKS: usize = PRIME - 1;
/// The factors that are tried: of each two that are opposite to each other one, but for 1.
const FACTORS: std::ops::RangeInclusive<usize> = 2..=BLOCKS / 2;

/// The offsets of clocks that do not differ in rate, if the dependencies do not prove that they do.
pub(super) fn level(bench: &Bench<'_>, usual: Division, seconds: f64) -> Result<Option<FoundOffsets>, Cancelled> {
    let flat = Curves::flat(bench.links.clocks(), 1, bench.span());
    let (found, aim) = bench.settle_aimed(&flat, Division { rho: 1e-12, pieces: 1, ..usual })?;
    if found.survey.contradictions(0.0).sum > 0.0 {
        if std::env::var("SAY").is_ok() { eprintln!("level contradicted"); }
        return Ok(None);
    }
    let cost = least_cost(bench, &aim, usual)?;
    let mut text = String::new();
    let mut is_level = false;
    for factor in FACTORS {
        let moved = least_cost(&permuted(bench, factor), &aim, usual)?;
        text += &format!(" {moved:.1}");
        is_level |= moved * OPTIONS.gain <= cost;
    }
    if std::env::var("SAY").is_ok() { eprintln!("level {is_level} cost {cost:.1} moved{text} flat {:.1}", aim.cost(&found.survey)); }
    if !is_level { return Ok(None); }
    Ok(Some(bench.settle(&found.curves, usual.level(seconds))?))
}

/// Dependencies whose blocks lie in another order.
fn permuted<'a>(bench: &Bench<'a>, factor: usize) -> Bench<'a> {
    let block = bench.span() / BLOCKS as f64;
    bench.moved(|seen| {
        let from = ((seen.sent / block) as usize).min(BLOCKS - 1);
        let to = factor * (from + 1) % PRIME - 1;
        let by = (to as f64 - from as f64) * block;
        super::frame::FramedDependency {
            sent: seen.sent + by,
            received: seen.received + by,
            ..*seen
        }
    })
}

/// The least cost of the tightest dependencies of each block under lines.
fn least_cost(bench: &Bench<'_>, aim: &Aim, usual: Division) -> Result<f64, Cancelled> {
    let lines = Division { pieces: 1, ..usual };
    let mut curves = Curves::flat(bench.links.clocks(), 1, bench.span());
    let mut survey = bench.survey(&curves, BLOCKS);
    let mut active = survey.positions();
    let mut solver = None;
    for _ in 0..OPTIONS.rounds {
        solver = bench.minimise(&active, &mut curves, aim, (lines, super::active_set::ROUGHLY), solver)?;
        survey = bench.survey(&curves, BLOCKS);
        let both = active.iter_mut().zip(&survey.links);
        let new: usize = both.map(|(active, link): (_, &Surveyed)| take_in(active, link.positions())).sum();
        if new == 0 {
            break;
        }
    }
    Ok(aim.cost(&survey))
}
