//! Where waiting began, against a plain recursion tick by tick, and by hand.

use proptest::prelude::*;
use retime::causality::{
    Causality, CausalityOptions, Class, LocationLog, LogBuilder, MessageId, OperationId,
    OperationPart,
};
use retime::{
    Clocks, Grouping, LocationIndex, Origin, Reach, Stragglers, Ticks, Timestamp, TraceInfo,
};

use crate::common::hand::ranks;
use crate::common::waits::stragglers;

/// An act of several processes.
#[derive(Clone, Debug)]
enum Act {
    /// All of these meet, each after having worked for so long, and leave so long after the last.
    Meet(Vec<(usize, u64)>, u64),
    /// A process sends to another one, which works before it asks.
    Send {
        from: (usize, u64),
        to: (usize, u64),
        takes: u64,
    },
    /// Both ends of a message go on so long after the later of them came.
    Pass {
        from: (usize, u64),
        to: (usize, u64),
        takes: u64,
    },
}

/// A part that a process took.
#[derive(Clone, Copy, Debug)]
struct Visit {
    process: usize,
    begin: u64,
    end: u64,
    /// The last to come, and the time of that.
    last: (usize, u64),
    act: usize,
    is_message: bool,
}

impl Visit {
    fn until(&self) -> u64 {
        self.last.1.min(self.end)
    }

    fn waits(&self) -> u64 {
        if self.last.0 == self.process {
            return 0;
        }
        self.until().saturating_sub(self.begin)
    }
}

/// Runs processes that begin at 1: visits as they come, and logs.
fn run(
    processes: usize,
    acts: &[Act],
    id_of: impl Fn(usize) -> u64,
) -> (Vec<Visit>, Vec<LocationLog>) {
    let mut now = vec![1; processes];
    let mut visits = Vec::new();
    let mut logs: Vec<(LogBuilder, u64)> = (0..processes as u32)
        .map(|it| (LogBuilder::new(LocationIndex(it)), 0))
        .collect();
    let number = |logs: &mut Vec<(LogBuilder, u64)>, of: usize| {
        logs[of].1 += 1;
        logs[of].1 - 1
    };
    for (act, what) in acts.iter().enumerate() {
        match what {
            Act::Meet(members, lag) => {
                let begins: Vec<u64> = members.iter().map(|it| now[it.0] + it.1).collect();
                let latest = *begins.iter().max().unwrap();
                let place = begins.iter().position(|&it| it == latest).unwrap();
                let end = latest + lag;
                let id = OperationId::number(id_of(act));
                for (rank, (&(process, _), &begin)) in members.iter().zip(&begins).enumerate() {
                    let part = OperationPart {
                        id,
                        class: Class::AllToAll,
                        rank: rank as u32,
                        expected: members.len() as u32,
                    };
                    let event = number(&mut logs, process);
                    logs[process].0.named_begin(event, Timestamp(begin), part);
                    let event = number(&mut logs, process);
                    logs[process].0.named_end(event, Timestamp(end), part);
                    now[process] = end;
                    let last = (members[place].0, latest);
                    visits.push(Visit {
                        process,
                        begin,
                        end,
                        last,
                        act,
                        is_message: false,
                    });
                }
            }
            Act::Pass { from, to, takes } => {
                let id = MessageId::number(id_of(act));
                let [sent, asked] = [from, to].map(|it| now[it.0] + it.1);
                let end = sent.max(asked) + takes;
                let event = number(&mut logs, from.0);
                logs[from.0].0.named_send(event, Timestamp(sent), id);
                logs[from.0].0.held(Ticks((end - sent) as i64));
                let event = number(&mut logs, to.0);
                logs[to.0].0.named_receive(event, Timestamp(end), id);
                logs[to.0].0.awaited(Ticks((end - asked) as i64));
                let ends = [(to.0, asked, (from.0, sent)), (from.0, sent, (to.0, asked))];
                for (process, begin, last) in ends {
                    now[process] = end;
                    visits.push(Visit {
                        process,
                        begin,
                        end,
                        last,
                        act,
                        is_message: true,
                    });
                }
            }
            Act::Send { from, to, takes } => {
                let id = MessageId::number(id_of(act));
                let sent = now[from.0] + from.1;
                let asked = now[to.0] + to.1;
                let got = sent.max(asked) + takes;
                let event = number(&mut logs, from.0);
                logs[from.0].0.named_send(event, Timestamp(sent), id);
                let event = number(&mut logs, to.0);
                logs[to.0].0.named_receive(event, Timestamp(got), id);
                logs[to.0].0.awaited(Ticks((got - asked) as i64));
                (now[from.0], now[to.0]) = (sent, got);
                let last = (from.0, sent);
                visits.push(Visit {
                    process: to.0,
                    begin: asked,
                    end: got,
                    last,
                    act,
                    is_message: true,
                });
            }
        }
    }
    let finish = |(log, events): (LogBuilder, u64)| {
        let range = match (log.is_empty(), log.len()) {
            (true, _) => (Timestamp(0), Timestamp(0)),
            _ => (Timestamp(0), Timestamp(*now.iter().max().unwrap())),
        };
        log.finish(events, range.0, range.1).unwrap()
    };
    (visits, logs.into_iter().map(finish).collect())
}

/// Some processes, and what they do.
fn programs() -> impl Strategy<Value = (usize, Vec<Act>)> {
    (2..7_usize).prop_flat_map(|processes| {
        let all: Vec<usize> = (0..processes).collect();
        let members = prop::sample::subsequence(all, 2..=processes);
        let meet = (
            members,
            prop::collection::vec(1..40_u64, processes),
            0..5_u64,
        )
            .prop_map(|(members, work, lag)| {
                Act::Meet(members.into_iter().zip(work).collect(), lag)
            });
        let send = (0..processes, 1..processes, 1..40_u64, 1..40_u64, 0..5_u64).prop_map(
            move |(from, beyond, worked, works, takes)| Act::Send {
                from: (from, worked),
                to: ((from + beyond) % processes, works),
                takes,
            },
        );
        let pass = send.clone().prop_map(|act| match act {
            Act::Send { from, to, takes } => Act::Pass { from, to, takes },
            act => act,
        });
        let act = prop_oneof![6 => meet, 2 => send, 1 => pass];
        (Just(processes), prop::collection::vec(act, 1..25))
    })
}

fn found(processes: usize, logs: Vec<LocationLog>) -> Stragglers {
    let info: TraceInfo = ranks(&(0..processes).collect::<Vec<_>>());
    let causality = Causality::build(&info, logs, CausalityOptions::default()).unwrap();
    let clocks: Clocks = Grouping::Location.clocks(&info, &causality);
    let times = causality.nodes().timestamps();
    stragglers(&causality, &info, &clocks, times, None)
}

/// The share of each wait that is due to each process.
fn plain(processes: usize, visits: &[Visit]) -> Vec<Vec<f64>> {
    let mut shares: Vec<Vec<f64>> = Vec::new();
    for (number, visit) in visits.iter().enumerate() {
        let mut own = vec![0.0; processes];
        if visit.waits() > 0 {
            // By a message that it did not wait for it was not released.
            let releases =
                |it: &&Visit| it.process == visit.process && (it.waits() > 0 || !it.is_message);
            let ends = visits[..number].iter().filter(releases);
            let since = ends.map(|it| it.end).max().unwrap_or(0);
            // The last was, when it waited for a message of the one that waits now.
            let met = visits[..number].iter().filter(|it| {
                it.process == visit.last.0
                    && it.act < visit.act
                    && it.is_message
                    && it.last.0 == visit.process
                    && it.waits() > 0
            });
            let since = met.map(Visit::until).max().unwrap_or(0).max(since);
            let earlier = |it: &&usize| {
                let it = &visits[**it];
                it.process == visit.last.0 && it.act < visit.act
            };
            let idle_at = |it: &Visit, tick: u64| {
                it.waits() > 0 && tick >= since && (it.begin..it.until()).contains(&tick)
            };
            let numbers: Vec<usize> = (0..number).collect();
            let earlier: Vec<usize> = numbers.iter().filter(earlier).copied().collect();
            let moments = 0..visit.last.1;
            let is_idle = |tick: &u64| earlier.iter().any(|&it| idle_at(&visits[it], *tick));
            let idle = moments.clone().filter(is_idle).count() as u64;
            let elsewhere = idle.min(visit.waits()) as f64;
            let length = |it: usize| {
                moments
                    .clone()
                    .filter(|&at| idle_at(&visits[it], at))
                    .count() as f64
            };
            let all: f64 = earlier.iter().map(|&it| length(it)).sum();
            own[visit.last.0] += visit.waits() as f64 - elsewhere;
            for &it in earlier.iter().filter(|_| all > 0.0) {
                for (own, share) in own.iter_mut().zip(&shares[it]) {
                    *own += elsewhere * length(it) / all * share;
                }
            }
            for share in &mut own {
                *share /= visit.waits() as f64;
            }
        }
        shares.push(own);
    }
    shares
}

proptest! {
    #[test]
    fn it_is_the_plain_recursion((processes, acts) in programs()) {
        let (visits, logs) = run(processes, &acts, |act| act as u64);
        let found = found(processes, logs);
        let shares = plain(processes, &visits);
        let waited: u64 = visits.iter().map(Visit::waits).sum();
        // To the tick all that was waited is charged.
        let charged = found.origins.iter().map(|it| it.held_up).sum::<u64>();
        prop_assert_eq!(charged, waited);
        // Nothing is certain where nothing bounds the clocks.
        prop_assert!(found.origins.iter().all(|it| it.certainly == 0 && it.certain_operations == 0));
        for process in 0..processes {
            let due = |it: &(&Visit, &Vec<f64>)| it.0.waits() as f64 * it.1[process];
            let expected: f64 = visits.iter().zip(&shares).map(|it| due(&it)).sum();
            let origin = found.origins.iter().find(|it| it.process == process);
            let held_up = origin.map_or(0, |it| it.held_up) as f64;
            // Each division loses less than a tick, and hands on less than one for each wait.
            prop_assert!((held_up - expected).abs() <= visits.len() as f64, "{held_up} {expected}");
            let direct = origin.map_or(0, |it| it.directly);
            prop_assert!(direct as f64 <= held_up);
        }
    }

    #[test]
    fn the_order_in_which_operations_are_numbered_is_nothing_to_it((processes, acts) in programs()) {
        let count = acts.len() as u64;
        let (_, logs) = run(processes, &acts, |act| act as u64);
        let (_, others) = run(processes, &acts, |act| count - act as u64);
        prop_assert_eq!(found(processes, logs).origins, found(processes, others).origins);
    }

    #[test]
    fn with_clocks_that_agree_all_is_certain((processes, acts) in programs()) {
        let (visits, logs) = run(processes, &acts, |act| act as u64);
        let info: TraceInfo = ranks(&(0..processes).collect::<Vec<_>>());
        let causality = Causality::build(&info, logs, CausalityOptions::default()).unwrap();
        let one = Clocks::from_owners(&vec![(); processes]).0;
        let times = causality.nodes().timestamps();
        let found = stragglers(&causality, &info, &one, times, None);
        // Of those who come at the same time nobody is last for certain.
        let is_tie = |it: &Visit| visits.iter().any(|other| {
            other.act == it.act && other.process != it.last.0 && other.begin == it.last.1
        });
        prop_assume!(!visits.iter().any(is_tie));
        for it in &found.origins {
            prop_assert_eq!((it.certainly, it.certain_operations), (it.held_up, it.operations));
        }
    }
}

/// Data and tensor parallel groups: 5 is slow, 4 waits for it among neighbours, and all others
/// with an even number for 4.
#[test]
fn the_slow_one_is_named_and_not_the_one_who_waited_for_it() {
    let mut acts = Vec::new();
    for _ in 0..10 {
        for pair in 0..4 {
            let works = |rank: usize| 100 + if rank == 5 { 1_000 } else { rank as u64 };
            let members = [2 * pair, 2 * pair + 1];
            acts.push(Act::Meet(members.map(|it| (it, works(it))).to_vec(), 5));
        }
        for side in 0..2 {
            let members = (0..4).map(|it| (2 * it + side, 10)).collect();
            acts.push(Act::Meet(members, 5));
        }
    }
    let (visits, logs) = run(8, &acts, |act| act as u64);
    let found = found(8, logs);
    let lasts: Vec<u64> = [4, 5].map(|it| found.processes[it].last).to_vec();
    // In operations of its other group 4 comes last.
    assert_eq!(lasts, [10, 20]);
    let waited: u64 = visits.iter().map(Visit::waits).sum();
    let Origin {
        process,
        held_up,
        operations,
        reach,
        ..
    } = found.origins[0];
    assert_eq!((process, operations), (5, 20));
    assert!(
        held_up as f64 > 0.98 * waited as f64,
        "{held_up} of {waited}"
    );
    // Those of its own groups, and through 4 the others.
    assert_eq!(
        reach,
        Some(Reach {
            directly: 4,
            through_others: 3
        })
    );
    assert!(found.origins[1].held_up < held_up / 50);
    let work = |process: usize| {
        let origin = found.origins.iter().find(|it| it.process == process);
        origin.and_then(|it| it.work).unwrap()
    };
    // It works 1,000 longer than others in each of ten rounds, of which all took part in nine and what
    // is left of the first when 5 comes; and that 4 is waited for does not make it slow.
    let [slow, waited_for] = [5, 4].map(work);
    assert!(
        slow.longer.abs_diff(9_000) < 100 && slow.differ < 100,
        "{slow:?}"
    );
    assert!(
        waited_for.longer < 100 && waited_for.differ > 8_900,
        "{waited_for:?}"
    );
}

/// 0 works for 100, and sends to 1, which works for 10 more, and sends to 2, which works for 10
/// more, and sends to 0. That asks at 102.
#[test]
fn a_ring_of_three_by_hand() {
    let send = |from, worked, to| Act::Send {
        from: (from, worked),
        to: (to, 1),
        takes: 3,
    };
    let (visits, logs) = run(
        3,
        &[send(0, 100, 1), send(1, 10, 2), send(2, 10, 0)],
        |act| act as u64,
    );
    // 1 asks at 2 for what is sent at 101, 2 for what is sent at 114, and 0 at 102 for what is at 127.
    let waits: Vec<u64> = visits.iter().map(Visit::waits).collect();
    assert_eq!(waits, [99, 112, 25]);
    let found = found(3, logs);
    let of = |process: usize| {
        let origin = found.origins.iter().find(|it| it.process == process);
        origin.map(|it| (it.held_up, it.directly))
    };
    // 2 waited for 112 before it kept 0 for 25, which go on to it: it is to blame for nothing. Of the
    // 112 and these 25 as much goes on to 1 as that was idle, 99 of 112, and from there to 0.
    let goes_on = (112 + 25) * 99 / 112;
    assert_eq!(of(0), Some((99 + goes_on, 99)));
    assert_eq!(of(1), Some((112 + 25 - goes_on, 13)));
    assert_eq!(of(2), None);
    // No send says how long it lasted, but of all that waits it is known for what.
    assert!(found.origins.iter().all(|it| it.work.is_some()));
}

/// Two stages of which the second works ten times as long. The first one waits in its sends.
#[test]
fn who_sends_waits_for_who_receives() {
    let pass = |works| Act::Pass {
        from: (0, 10),
        to: (1, works),
        takes: 3,
    };
    let (visits, logs) = run(2, &[pass(1), pass(100), pass(100)], |act| act as u64);
    // 1 asks at 2 for what is sent at 11, and both go on at 14. Then 0 sends at 24, and 1 asks at
    // 114, and once more 103 later.
    let waits: Vec<(usize, u64)> = visits.iter().map(|it| (it.process, it.waits())).collect();
    assert_eq!(waits, [(1, 9), (0, 0), (1, 0), (0, 90), (1, 0), (0, 90)]);
    let found = found(2, logs);
    let charges: Vec<_> = found
        .origins
        .iter()
        .map(|it| (it.process, it.held_up))
        .collect();
    assert_eq!(charges, [(1, 180), (0, 9)]);
    // Both took part from 11, when 0 first did, to 220. In that time 1 waited no more.
    let work = |longer, differ| Some((longer, differ));
    let works = found.origins.iter().map(|it| it.work);
    let works: Vec<_> = works
        .map(|it| it.map(|it| (it.longer, it.differ)))
        .collect();
    assert_eq!(works, [work(180, 0), work(0, 0)]);
}

/// Four stages that work alike, on four messages each way, and meet. The first is waited for until
/// there is anything to do, the last until there is anything to give back; but nobody is slow.
#[test]
fn of_stages_that_work_alike_none_stands_out() {
    let mut acts = Vec::new();
    for _ in 0..5 {
        let mut pass = |from: usize, to: usize| {
            acts.push(Act::Pass {
                from: (from, 50),
                to: (to, 50),
                takes: 3,
            });
        };
        for _ in 0..4 {
            (0..3).for_each(|it| pass(it, it + 1));
        }
        for _ in 0..4 {
            (0..3).for_each(|it| pass(3 - it, 2 - it));
        }
        // The ends have one neighbour each, and do as much beside.
        let works = |it: usize| if it == 0 || it == 3 { 450 } else { 50 };
        acts.push(Act::Meet((0..4).map(|it| (it, works(it))).collect(), 3));
    }
    let (visits, logs) = run(4, &acts, |act| act as u64);
    let waited: u64 = visits.iter().map(Visit::waits).sum();
    let found = found(4, logs);
    assert!(found.origins[0].held_up * 4 > waited, "{:?}", found.origins);
    // Of work is left what messages take: the inner stages have eight more in each round.
    let longer = found.origins.iter().map(|it| it.work.unwrap().longer);
    assert_eq!(longer.max(), Some(5 * 8 * 3));
}

/// A pipeline whose second stage is slow: the third waits for it, and the fourth for the third.
#[test]
fn of_a_pipeline_the_slow_stage_is_named() {
    let mut acts = Vec::new();
    for _ in 0..20 {
        for stage in 0..3 {
            let works = if stage == 1 { 500 } else { 100 };
            acts.push(Act::Send {
                from: (stage, works),
                to: (stage + 1, 1),
                takes: 3,
            });
        }
    }
    let (_, logs) = run(4, &acts, |act| act as u64);
    let found = found(4, logs);
    assert_eq!((found.operations, found.messages), (0, 60));
    let first = found.origins[0];
    assert_eq!(first.process, 1);
    assert_eq!(
        first.reach,
        Some(Reach {
            directly: 1,
            through_others: 1
        })
    );
    assert!(
        first.held_up > 5 * found.origins[1].held_up,
        "{:?}",
        found.origins
    );
}
