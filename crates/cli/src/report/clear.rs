//! The process, the host or the processes that clearly held up others are named without being asked for.
//!
//! A process is clear if it certainly, or as ends of operations tell likely, held up others twice as long as any other process did that is slow by
//! more than chance, if that is a hundredth of their time, and if little can have been waited where nobody sees it. Of
//! what a process held up others, no more counts for each of them than by how much it worked
//! longer: one that is waited for without working longer was itself held up. Where its work is not
//! known, as where messages may have been waited for unseen, it is not clear: who comes last may have
//! waited for a message until then. And it has to be behind others time after time: by chance
//! somebody always comes last more often than others.

use super::waits::{LikelyPart, StragglerPart, StragglersPart, TogetherPart, WorkPart};

/// How sure it is that others were held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sureness {
    /// Bounds prove it.
    Certain,
    /// Ends of operations make it likely.
    Likely,
}

/// How many times as long as any other process that is slow, and as all on average, the one that is
/// named surely held up others.
const TWICE: f64 = 2.0;
/// The least share of the time of others that is worth a line.
const WORTH: f64 = 0.01;
/// At most one in so many records of communication of a process that is named was not used.
const UNSEEN: u64 = 4;

/// How much of what a process held up so many others can be due to its being slow: no more for
/// each of them than by how much it worked longer, if that is known.
pub(super) fn by_being_slow(process: &StragglerPart, held: u64, others: usize) -> u64 {
    let each = process.work.as_ref().map(WorkPart::surely_longer);
    each.map_or(held, |it| held.min(it.saturating_mul(others as u64)))
}

/// True if a process is worth naming to everybody, by what is so sure.
pub(super) fn is_clear(part: &StragglersPart, process: &StragglerPart, sureness: Sureness) -> bool {
    let Some(work) = &process.work else {
        return false;
    };
    let number = part.taking_part.saturating_sub(1);
    let slow = |it: &StragglerPart, held: u64| by_being_slow(it, held, number) as f64;
    let surely = slow(process, process.surely_held_up(sureness));
    let all: f64 = part
        .processes
        .iter()
        .map(|it| slow(it, it.held_up_ticks))
        .sum();
    let by_chance = all / part.taking_part.max(1) as f64;
    let others_did = part
        .processes
        .iter()
        .filter(|it| it.process != process.process && it.significant);
    let next = others_did
        .map(|it| slow(it, it.held_up_ticks))
        .fold(0.0, f64::max);
    waits_are_seen(process)
        && process.significant
        && work.stands_out()
        && surely >= TWICE * next.max(by_chance)
        && surely >= WORTH * others(part, process) as f64
}

/// True if little may have been waited in communication of a process that was not used.
pub(super) fn waits_are_seen(process: &StragglerPart) -> bool {
    is_seen(
        process.operations + process.messages,
        process.unused_records,
    )
}

/// True if little may have been waited where nobody sees it.
fn is_seen(used: u64, unused: u64) -> bool {
    unused <= (used + unused) / UNSEEN
}

/// True if a host is worth naming to everybody, by the rules for processes.
///
/// No transfers count as its work: as far as its clock is ahead of others, within bounds, all its
/// processes seem to come last and wait less, and all its transfers to take longer by that.
pub(super) fn is_clear_host(
    part: &StragglersPart,
    host: &TogetherPart,
    sureness: Sureness,
) -> bool {
    let slow = |it: &TogetherPart, held: u64| {
        let longer = it.work.surely_longer();
        let computing = longer.saturating_sub(it.work.transfers_ticks);
        held.min(it.outside(computing, part.taking_part)) as f64
    };
    let surely = slow(host, host.surely_held_up(sureness));
    let others = part.hosts.iter().filter(|it| it.name != host.name);
    let next = others
        .map(|it| slow(it, it.held_up_ticks))
        .fold(0.0, f64::max);
    let others_lasted = part.lasted_ticks.saturating_sub(host.lasted_ticks);
    is_seen(host.operations, host.unused_records)
        && host.is_slow
        && surely >= TWICE * next
        && surely >= WORTH * others_lasted as f64
}

/// True if several processes are worth naming to everybody, by the rules for one. Where processes send
/// each other messages they may have different parts, as stages of a pipeline have, of which some take
/// longer than others though nothing is slow.
pub(super) fn are_clear(part: &StragglersPart, several: &TogetherPart, sureness: Sureness) -> bool {
    let surely = several.by_being_slow(several.surely_held_up(sureness), part.taking_part) as f64;
    let number = part.taking_part.saturating_sub(1);
    let is_other = |it: &&StragglerPart| {
        it.significant && several.processes.binary_search(&it.process).is_err()
    };
    let others = part.processes.iter().filter(is_other);
    let next = others
        .map(|it| by_being_slow(it, it.held_up_ticks, number) as f64)
        .fold(0.0, f64::max);
    let others_lasted = part.lasted_ticks.saturating_sub(several.lasted_ticks);
    is_seen(several.operations, several.unused_records)
        && part.messages == 0
        && several.work.stands_out()
        && surely >= TWICE * next
        && surely >= WORTH * others_lasted as f64
}

/// True if a process is one of several of which each is more than half as slow: which of them comes last is
/// chance then, and that one alone is charged.
pub(super) fn are_as_slow(several: &TogetherPart, process: &StragglerPart) -> bool {
    let own = process.work.as_ref().map_or(0, WorkPart::surely_longer);
    let least = several.work.surely_longer();
    several.processes.binary_search(&process.process).is_ok() && TWICE * least as f64 > own as f64
}

/// How long all others lasted.
pub(super) fn others(part: &StragglersPart, process: &StragglerPart) -> u64 {
    part.lasted_ticks.saturating_sub(process.lasted_ticks)
}

fn likely_held_up(likely: Option<LikelyPart>) -> u64 {
    likely.map_or(0, |it| it.held_up_ticks)
}

impl StragglerPart {
    /// How long others were held up, as far as that is so sure.
    pub(super) fn surely_held_up(&self, sureness: Sureness) -> u64 {
        match sureness {
            Sureness::Certain => self.certainly_held_up_ticks,
            Sureness::Likely => likely_held_up(self.likely),
        }
    }
}

impl TogetherPart {
    /// How long others were held up, as far as that is so sure.
    pub(super) fn surely_held_up(&self, sureness: Sureness) -> u64 {
        match sureness {
            Sureness::Certain => self.certainly_held_up_ticks,
            Sureness::Likely => likely_held_up(self.likely),
        }
    }

    /// How much of what its processes held up others, outside of it, can be due to its being slow,
    /// where so many take part.
    pub(super) fn by_being_slow(&self, held: u64, taking_part: usize) -> u64 {
        held.min(self.outside(self.work.surely_longer(), taking_part))
    }

    /// A time for each of those that take part outside of it.
    fn outside(&self, ticks: u64, taking_part: usize) -> u64 {
        let outside = taking_part.saturating_sub(self.processes.len()) as u64;
        ticks.saturating_mul(outside)
    }
}

#[cfg(test)]
mod tests {
    use super::super::waits::OutsideCallsPart;
    use super::*;

    /// Processes of which each lasted 1,000, by what they held up, and their work compared.
    fn part(processes: &[(u64, Option<(u64, u64)>)]) -> StragglersPart {
        let process = |&(held, work): &(u64, Option<(u64, u64)>)| StragglerPart {
            held_up_ticks: held,
            certainly_held_up_ticks: held,
            work: work.map(|(longer_ticks, others_differ_ticks)| WorkPart {
                longer_ticks,
                others_differ_ticks,
                outside_calls: None,
                transfers_ticks: 0,
            }),
            lasted_ticks: 1_000,
            operations: 90,
            significant: true,
            ..StragglerPart::default()
        };
        let mut processes: Vec<StragglerPart> = processes.iter().map(process).collect();
        (0..)
            .zip(&mut processes)
            .for_each(|(number, it)| it.process = number);
        StragglersPart {
            taking_part: processes.len(),
            lasted_ticks: 1_000 * processes.len() as u64,
            processes,
            ..StragglersPart::default()
        }
    }

    fn named(part: &StragglersPart) -> Vec<usize> {
        let clear = part
            .processes
            .iter()
            .filter(|it| is_clear(part, it, Sureness::Certain));
        clear.map(|it| it.process).collect()
    }

    #[test]
    fn who_is_waited_for_without_working_longer_is_not_named() {
        // Process 0 is waited for most, as the first stage of a pipeline is.
        let waited_for = [600, 500, 40, 40];
        let of = |works: [Option<(u64, u64)>; 4]| {
            let all: Vec<_> = waited_for.into_iter().zip(works).collect();
            named(&part(&all))
        };
        // Process 1 worked 150 longer than half of the others, who differ by 10.
        let slow = [
            Some((0, 160)),
            Some((150, 10)),
            Some((5, 155)),
            Some((0, 155)),
        ];
        assert_eq!(of(slow), [1]);
        // Others differ by more than that: it may be chance.
        let scattered = [
            Some((0, 160)),
            Some((150, 160)),
            Some((5, 155)),
            Some((0, 155)),
        ];
        assert!(of(scattered).is_empty());
        // Its work can have cost each of three others 9 of 1,000.
        let little = [Some((0, 10)), Some((9, 1)), Some((0, 10)), Some((0, 10))];
        assert!(of(little).is_empty());
    }

    #[test]
    fn whose_work_is_not_known_is_not_named() {
        let of = |work| named(&part(&[(600, work), (5, work), (5, work)]));
        assert_eq!(of(Some((600, 0))), [0]);
        assert!(of(None).is_empty());
        // Where all has one stamp nobody held up anybody.
        let nobody = named(&part(&[(0, None), (0, None)]));
        assert!(nobody.is_empty());
    }

    #[test]
    fn whose_calls_take_long_is_not_named() {
        let [slow, other] = [(150, 10), (0, 160)].map(Some);
        let mut part = part(&[(300, slow), (5, other), (0, other)]);
        assert_eq!(named(&part), [0]);
        let mut outside = |longer_ticks, others_differ_ticks| {
            let work = part.processes[0].work.as_mut().unwrap();
            work.outside_calls = Some(OutsideCallsPart {
                longer_ticks,
                others_differ_ticks,
            });
            named(&part)
        };
        assert_eq!(outside(100, 10), [0]);
        // Outside of calls others differ by as much, or it can have cost each of two others 9 of 1,000.
        assert!(outside(100, 101).is_empty());
        assert!(outside(9, 1).is_empty());
    }

    #[test]
    fn who_worked_longer_but_is_hardly_waited_for_is_not_named() {
        let of = |held: u64| {
            let [slow, other] = [(150, 10), (0, 160)].map(Some);
            named(&part(&[(held, slow), (5, other), (0, other)]))
        };
        // 1 % of the time of two others is 20.
        assert!(of(19).is_empty());
        assert_eq!(of(20), [0]);
    }

    /// Bounds leave open who came last, but ends of operations do not.
    #[test]
    fn what_is_likely_makes_a_process_clear_where_nothing_is_certain() {
        let [slow, other] = [(150, 10), (0, 160)].map(Some);
        let mut part = part(&[(100, slow), (5, other), (0, other)]);
        part.processes[0].certainly_held_up_ticks = 0;
        assert!(named(&part).is_empty());
        let likely = |part: &StragglersPart| is_clear(part, &part.processes[0], Sureness::Likely);
        assert!(!likely(&part));
        let held_up = |held_up_ticks| LikelyPart {
            held_up_ticks,
            held_up_operations: 3,
        };
        part.processes[0].likely = Some(held_up(100));
        assert!(likely(&part));
        // 1 % of the time of two others is 20.
        part.processes[0].likely = Some(held_up(19));
        assert!(!likely(&part));
        part.processes[0].likely = Some(held_up(100));
        part.processes[0].significant = false;
        assert!(!likely(&part));
    }

    #[test]
    fn who_may_be_late_by_chance_is_not_named() {
        let [slow, other] = [(150, 10), (0, 160)].map(Some);
        let mut part = part(&[(100, slow), (5, other), (0, other)]);
        assert_eq!(named(&part), [0]);
        part.processes[0].significant = false;
        assert!(named(&part).is_empty());
    }

    /// A stall now and then of one process hides none that is slow all the time.
    #[test]
    fn who_is_late_by_chance_hides_nobody() {
        let works = [(150, 10), (60, 150), (0, 160), (0, 160)];
        let held_up = [200, 120, 0, 0];
        let all: Vec<_> = held_up.into_iter().zip(works.map(Some)).collect();
        let mut part = part(&all);
        assert!(named(&part).is_empty());
        part.processes[1].significant = false;
        assert_eq!(named(&part), [0]);
    }

    #[test]
    fn a_slow_host_is_named() {
        let host = |name: &str, processes: [usize; 2], longer_ticks| TogetherPart {
            name: name.into(),
            processes: processes.to_vec(),
            held_up_ticks: 200,
            certainly_held_up_ticks: 200,
            work: WorkPart {
                longer_ticks,
                others_differ_ticks: 5,
                outside_calls: None,
                transfers_ticks: 0,
            },
            is_slow: longer_ticks > 0,
            operations: 90,
            lasted_ticks: 2_000,
            ..TogetherPart::default()
        };
        let mut part = part(&[(100, Some((20, 100))); 4]);
        part.hosts = vec![host("b", [2, 3], 70), host("a", [0, 1], 0)];
        let named = |part: &StragglersPart| {
            let clear = part
                .hosts
                .iter()
                .filter(|it| is_clear_host(part, it, Sureness::Certain));
            clear.map(|it| it.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(named(&part), ["b"]);
        part.hosts[0].unused_records = 31;
        assert!(named(&part).is_empty());
        part.hosts[0].unused_records = 0;
        // All that it worked longer were transfers, as where its clock is ahead.
        part.hosts[0].work.transfers_ticks = part.hosts[0].work.longer_ticks;
        assert!(named(&part).is_empty());
        part.hosts[0].work.transfers_ticks = 1;
        assert_eq!(named(&part), ["b"]);
        // 1 % of the time of the others is 20, of which each of two had 9.
        part.hosts[0].work.longer_ticks = 9;
        assert!(named(&part).is_empty());
    }

    #[test]
    fn several_slow_processes_are_named() {
        let others = Some((0, 160));
        let mut part = part(&[
            (150, Some((70, 160))),
            (90, others),
            (0, others),
            (0, others),
        ]);
        part.several = Some(TogetherPart {
            processes: vec![0, 1],
            held_up_ticks: 240,
            certainly_held_up_ticks: 200,
            work: WorkPart {
                longer_ticks: 70,
                others_differ_ticks: 5,
                outside_calls: None,
                transfers_ticks: 0,
            },
            operations: 90,
            lasted_ticks: 2_000,
            ..TogetherPart::default()
        });
        let are_named = |part: &StragglersPart| {
            are_clear(part, part.several.as_ref().unwrap(), Sureness::Certain)
        };
        assert!(named(&part).is_empty());
        assert!(are_named(&part));
        // Stages of a pipeline have different parts.
        part.messages = 1;
        assert!(!are_named(&part));
        part.messages = 0;
        // Another one that is slow held up others by more than half as much: each of three for 60.
        part.processes[2].held_up_ticks = 180;
        part.processes[2].work = Some(WorkPart {
            longer_ticks: 60,
            ..WorkPart::default()
        });
        assert!(!are_named(&part));
        part.processes[2].significant = false;
        assert!(are_named(&part));
        // 1 % of the time of two others is 20, of which each had 9.
        let several = part.several.as_mut().unwrap();
        several.work.longer_ticks = 9;
        assert!(!are_named(&part));
    }

    #[test]
    fn of_several_that_are_as_slow_none_is_named_alone() {
        let mut part = part(&[(150, Some((70, 5))), (30, None)]);
        let several = |longer_ticks| TogetherPart {
            processes: vec![0, 1],
            work: WorkPart {
                longer_ticks,
                ..WorkPart::default()
            },
            ..TogetherPart::default()
        };
        assert!(are_as_slow(&several(36), &part.processes[0]));
        assert!(!are_as_slow(&several(35), &part.processes[0]));
        part.processes[0].process = 2;
        assert!(!are_as_slow(&several(36), &part.processes[0]));
    }

    #[test]
    fn who_may_have_waited_unseen_is_not_named() {
        let [slow, other] = [(150, 10), (0, 160)].map(Some);
        let mut part = part(&[(100, slow), (5, other), (0, other)]);
        part.processes[0].unused_records = 30;
        assert_eq!(named(&part), [0]);
        part.processes[0].unused_records = 31;
        assert!(named(&part).is_empty());
    }
}
