//! Clocks whose rate changes at a few moments of the run.
//!
//! A time service that slews a clock lets it run faster or slower until its offset is gone: at 500 ppm
//! (`adjtime`), at up to 83,333 ppm (chrony). A counter that runs with the frequency of its processor
//! changes its rate, and so does a virtual machine that moves to another host. Before and afterwards
//! such a clock does what clocks do. As one that wanders it would be bent all over the run, and as one that
//! is set it would be set again and again:
//!
//! ```text
//!             wander needed, in a second   bends
//!  plain             100 ppm                never     the bends are rounded off
//!  bent             0.01 ppm                twice     taken
//! ```
//!
//! Where the difference of two clocks [stops being straight](breaks) the clock to blame is cut, as one
//! [that was set](super::parts) is, and each part is aligned by its own dependencies. The lines of two parts
//! meet where the rate changed, sharper than any message shows it; where they do not meet, the clock was set:
//!
//! ```text
//!  offset        /           D(t) = D_0 + d t     between the lines, d: the change of the rate
//!           |   /            bend where D(t) = 0
//!   ________|__/
//!           |    cut
//! ```
//!
//! Pairs of clocks tell rates and moments roughly at first, and the more is cut out the less is left to tell
//! them. So it is done again around the moments that were told, with less cut out.
//!
//! Then all stamps are [straightened](retime_clocks::Straight), and what is left are clocks that run at one
//! rate: aligned stiffly, with steps if they have any. Bends are taken if they and the wander that is left are
//! clearly more probable than the [wander](super::proof) of a curve without them, and leave no more reversed.
//!
//! Curves may have [any rate](any_rate) where nothing else explains all.

pub(super) mod any_rate;
pub(super) mod straight;

use super::breaks::{Bend, Place, Places};
use super::explained::Explained;
use super::parts::{Cuts, Parts};
use super::proof::{CLEARLY, Proof};
use super::rates::Rates;
use crate::selection::Stiffness;
use crate::stages::{AlignmentTask, SmoothAlignment, align_plainly};
use retime_causality::edges::ListedEdges;
use retime_clocks::estimate::Offset;
use retime_clocks::{Standstill, Straight};
use retime_model::{Cancelled, ClockId, Monitor, TickRate};
use straight::{cuts, straight};

/// Clocks that are straight but for the moments at which their rates change.
pub(super) struct Straightened {
    /// The way there and back.
    pub(super) straight: Straight,
    /// The straightened clocks, aligned.
    pub(super) aligned: SmoothAlignment,
    /// The places at which straightened clocks may have been set.
    pub(super) set: Cuts,
}

/// The share of a place that is cut out, by pass. Moments are told to a part of their place in each.
const CUT_OUT: [f64; 3] = [1.0, 0.25, 0.0625];

/// These places, narrower around the moments at which rates change.
fn narrower(places: &Places, share: f64) -> Places {
    let around = |it: &Place| {
        let Some(bend) = it.bend.filter(|_| share < 1.0) else {
            return *it;
        };
        let half = (it.until.saturating_sub(it.after) as f64 * share / 2.0) as i64;
        Place {
            after: bend.at.saturating_sub(half).max(it.after),
            until: bend.at.saturating_add(half).min(it.until),
            ..*it
        }
    };
    { places.iter() }
        .map(|it| it.iter().map(around).collect())
        .collect()
}

/// These places, with one at which a clock was set in the stead of two between which it [stands
/// still](Standstill): no time service slews a clock so much, and one that was set back does so until its
/// time has come up with what it showed.
fn moving(places: Places) -> Places {
    let stands = |from: &Place, to: &Place| {
        from.bend.zip(to.bend).is_some_and(|(from, to)| {
            let shown = to.at.abs_diff(from.at);
            Standstill::of_core(from.by * shown as f64, &[]).can_show(shown)
        })
    };
    let of_clock = |places: Vec<Place>| {
        let mut moving: Vec<Place> = Vec::with_capacity(places.len());
        for place in places {
            // Where nothing happens for a while it seems to be set in between.
            let from = moving.iter().rposition(|it| it.bend.is_some());
            let Some(from) = from.filter(|&from| stands(&moving[from], &place)) else {
                moving.push(place);
                continue;
            };
            moving[from] = Place {
                until: place.until,
                bend: None,
                ..moving[from]
            };
            moving.truncate(from + 1);
        }
        moving
    };
    places.into_iter().map(of_clock).collect()
}

/// Dependencies that are aligned.
struct Dependencies<'a> {
    all: &'a ListedEdges,
    rate: TickRate,
    reference: ClockId,
    monitor: &'a dyn Monitor,
}

/// Clocks whose rates change at some of these places, if that says more than the wander of clocks as
/// they were `found`.
pub(super) fn straightened(
    places: Places,
    all: &ListedEdges,
    found: &SmoothAlignment,
    rate: TickRate,
    monitor: &dyn Monitor,
) -> Result<Option<Straightened>, Cancelled> {
    let reference = found.alignment.estimate.reference;
    let dependencies = Dependencies {
        all,
        rate,
        reference,
        monitor,
    };
    let Some(places) = dependencies.exact(places)? else {
        return Ok(None);
    };
    let Some(straight) = straight(&places, &all.edges) else {
        return Ok(None);
    };
    let list = straight.straightened(all);
    let set = cuts(&straight, &places, |it| it.bend.is_none());
    let measured = Stiffness {
        measured_to: Some(found.needed),
        ..Stiffness::default()
    };
    let aligned = match Parts::new(set.clone()) {
        None => dependencies.align(&list, measured)?,
        Some(parts) => {
            let of_parts = dependencies.align(&parts.split(&list), measured)?;
            SmoothAlignment {
                alignment: parts.join(of_parts.alignment, &list.edges),
                ..of_parts
            }
        }
    };
    if !dependencies.is_better(&list, &aligned, &places, found) {
        return Ok(None);
    }
    let aligned = if aligned.alignment.steps.is_empty() {
        aligned
    } else {
        dependencies.align(&list, Stiffness::default())?
    };
    Ok(Some(Straightened {
        straight,
        aligned,
        set,
    }))
}

impl Dependencies<'_> {
    fn align(
        &self,
        list: &ListedEdges,
        stiffness: Stiffness,
    ) -> Result<SmoothAlignment, Cancelled> {
        let task = AlignmentTask {
            stiffness,
            ..AlignmentTask::of(self.rate, self.reference)
        };
        align_plainly(list, task, self.monitor)
    }

    /// True if clocks that bend at these places are contradicted less than curves, and bends, steps and
    /// wander together are clearly more probable than that of curves, or such curves explain nothing.
    fn is_better(
        &self,
        list: &ListedEdges,
        straight: &SmoothAlignment,
        places: &Places,
        curves: &SmoothAlignment,
    ) -> bool {
        let with = Explained::of(straight.clone(), list, Rates::any(self.rate));
        let without = Explained::of(curves.clone(), self.all, Rates::any(self.rate));
        let proof = Proof::beside(
            self.all,
            &curves.alignment,
            curves.likely_wander(),
            self.rate,
        );
        let bends = places.iter().flatten().filter(|it| it.bend.is_some());
        let lasts = bends.map(|it| it.until.saturating_sub(it.after));
        let cost: f64 = lasts.map(|it| proof.cost_of_bend(it)).sum();
        let is_only = curves.needed.is_infinite() && straight.needed.is_finite();
        straight.needed <= curves.needed
            && with.leaves_no_more_than(&without)
            && (is_only || with.length() + cost + CLEARLY < without.length())
    }

    /// These places, with the exact moments at which rates change. The clock was set at a place whose lines
    /// before and after do not meet; `None` if that is so of all.
    fn exact(&self, mut places: Places) -> Result<Option<Places>, Cancelled> {
        let bends = |places: &Places| {
            let all = places.iter().flatten();
            all.filter(|it| it.bend.is_some()).count()
        };
        let mut passes = CUT_OUT.iter().enumerate();
        while let Some((pass, &share)) = passes.next() {
            let left = bends(&places);
            let rough = straight(&places, &self.all.edges).filter(|_| left > 0);
            let Some(rough) = rough else {
                return Ok(None);
            };
            let stiffness = Stiffness {
                // Pairs tell rates of short stretches to much less than clocks keep.
                any_rate: pass == 0,
                ..Stiffness::default()
            };
            let cut = narrower(&places, share);
            let Some(met) = self.met(&places, &cut, &rough, stiffness)? else {
                return Ok(None);
            };
            if bends(&met) == left {
                places = moving(met);
                if bends(&places) < left {
                    passes = CUT_OUT.iter().enumerate();
                }
                continue;
            }
            // The others are told anew beside clocks that were set.
            for (place, met) in places.iter_mut().flatten().zip(met.iter().flatten()) {
                place.bend = place.bend.filter(|_| met.bend.is_some());
            }
            passes = CUT_OUT.iter().enumerate();
        }
        Ok(Some(places))
    }

    /// These places, with the changes of rates where the lines before and after them meet, of clocks that
    /// are `rough`ly straight and `cut` out there; `None` if there are too many.
    fn met(
        &self,
        places: &Places,
        cut: &Places,
        rough: &Straight,
        stiffness: Stiffness,
    ) -> Result<Option<Places>, Cancelled> {
        let list = rough.straightened(self.all);
        let Some(parts) = Parts::new(cuts(rough, cut, |_| true)) else {
            return Ok(None);
        };
        let aligned = self.align(&parts.split(&list), stiffness)?;
        let offsets = &aligned.alignment.estimate.offsets;
        let meet = |clock: ClockId, place: &Place, bend: Bend| {
            let time = |stamp| rough.time(clock, stamp);
            let (at, from, to) = (time(bend.at), time(place.after), time(place.until));
            let (_, sides) = parts.around(clock, at)?;
            let [before, after] = sides.map(|it| offsets.get(it.as_usize()));
            let (before, after) = (before?.as_ref()?, after?.as_ref()?);
            let lasts = to.saturating_sub(from).max(1) as f64;
            let rate = |offset: &Offset| (offset.at(to) - offset.at(from)) / lasts;
            let by = bend.by + rate(after) - rate(before);
            let later = (before.at(at) - after.at(at)) / by;
            let at = bend.at.saturating_add(later.round() as i64);
            (place.after <= at && at <= place.until).then_some(Bend { at, by, ..bend })
        };
        let met = (0..).map(ClockId).zip(places).map(|(clock, places)| {
            let met = |place: &Place| Place {
                bend: place.bend.and_then(|it| meet(clock, place, it)),
                ..*place
            };
            places.iter().map(met).collect()
        });
        Ok(Some(met.collect()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::{Alignment, align_edges};
    use retime_causality::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    pub(in crate::steps) const LAST: i64 = 600_000_000;

    /// Messages of 600 to 700 ticks both ways between three clocks that show such stamps.
    pub(in crate::steps) fn exchange(shown: impl Fn(usize, i64) -> i64 + Copy) -> Edges {
        let message = move |round: i64, from: usize, to: usize| {
            let sent = 200_000 * round + 1_000 * from as i64;
            let received = sent + 600 + (round * 7 + to as i64) % 100;
            let (cause, effect) = (ClockId(from as u32), ClockId(to as u32));
            Edge::message(cause, shown(from, sent), effect, shown(to, received))
        };
        let ways = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
        let all = (0..3_000).flat_map(|round| ways.map(|(from, to)| message(round, from, to)));
        let extent = |clock| Some((shown(clock, 0), shown(clock, LAST)));
        Edges::new(all.collect(), (0..3).map(extent).collect())
    }

    /// The time that a slewed clock has gained: so many ppm from a sixth of the run on, for a third of it.
    fn slewed(ppm: i64, time: i64) -> i64 {
        (time - LAST / 6).clamp(0, LAST / 3) * ppm / 1_000_000
    }

    fn aligned(shown: impl Fn(usize, i64) -> i64 + Copy, reference: u32) -> Alignment {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        align_edges(&exchange(shown), rate, ClockId(reference), &()).unwrap()
    }

    /// The most by which the difference of two aligned clocks is off at common times of the run.
    fn most_off(
        alignment: &Alignment,
        shown: impl Fn(usize, i64) -> i64,
        clocks: [usize; 2],
    ) -> f64 {
        let times = (1..200).map(|part| LAST / 200 * part);
        let off = times.map(|time| {
            let [one, other] = clocks.map(|clock| {
                let stamp = shown(clock, time);
                stamp as f64 + alignment.estimate.at(ClockId(clock as u32), stamp)
            });
            (one - other).abs()
        });
        off.fold(0.0, f64::max)
    }

    #[test]
    fn a_slewed_clock_is_followed_to_a_part_of_what_messages_take() {
        for ppm in [100, 500, -500, 83_333, -83_333, 300_000] {
            let shown = |clock: usize, time: i64| match clock {
                2 => time - 7_000 + slewed(ppm, time),
                _ => time,
            };
            let alignment = aligned(shown, 0);
            assert_eq!(alignment.steps, [], "{ppm}");
            let off = most_off(&alignment, shown, [0, 2]);
            assert!(off < 120.0, "{ppm}: {off}");
        }
    }

    /// Set back by a millisecond, it shows a tick for each message meanwhile.
    #[test]
    fn a_clock_that_stands_still_was_not_slewed() {
        let (set, lost) = (LAST / 2, 1_000_000);
        let shown = |clock: usize, time: i64| match clock {
            2 if time > set => (time - lost).max(set + (time - set) / 1_000),
            _ => time,
        };
        let alignment = aligned(shown, 0);
        assert_eq!(alignment.rate_changes, []);
        let [step] = &alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by + lost as f64).abs() < 1_000.0, "{step:?}");
    }

    /// The time goes on as before by the slewed clock, which is the reference.
    #[test]
    fn a_reference_that_was_slewed_goes_on_as_before() {
        let shown = |clock: usize, time: i64| match clock {
            2 => time - 7_000 + slewed(500, time),
            _ => time,
        };
        let alignment = aligned(shown, 2);
        assert_eq!(alignment.steps, []);
        for clocks in [[0, 2], [1, 2], [0, 1]] {
            let off = most_off(&alignment, shown, clocks);
            assert!(off < 120.0, "{clocks:?}: {off}");
        }
        let stamp = shown(2, LAST);
        let gained = alignment.estimate.at(ClockId(2), stamp) + slewed(500, LAST) as f64;
        assert!(gained.abs() < 500.0, "{gained}");
    }

    #[test]
    fn another_clock_may_be_set_meanwhile() {
        let shown = |clock: usize, time: i64| match clock {
            1 if time > LAST / 4 + 100_000 => time + 40_000,
            2 => time - 7_000 + slewed(500, time),
            _ => time,
        };
        let alignment = aligned(shown, 0);
        let [step] = &alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(1));
        assert!((step.by - 40_000.0).abs() < 120.0, "{step:?}");
        for clocks in [[0, 2], [0, 1]] {
            let off = most_off(&alignment, shown, clocks);
            assert!(off < 120.0, "{clocks:?}: {off}");
        }
    }

    /// A rate that changes all the time, by 30 us to and fro, is a curve.
    #[test]
    fn a_clock_that_swings_does_not_bend() {
        let shown = |clock: usize, time: i64| match clock {
            2 => {
                time + (30e3 * (time as f64 * 4.0 * std::f64::consts::TAU / LAST as f64).sin())
                    as i64
            }
            _ => time,
        };
        let alignment = aligned(shown, 0);
        assert!(alignment.wanders && alignment.steps.is_empty());
        let off = most_off(&alignment, shown, [0, 2]);
        assert!(off < 600.0, "{off}");
    }
}
