//! What is said of the clocks of hosts: offsets and drifts with bounds that hold.

use retime_sim::{Layout, Program, from, to};
use retime_testing::Effort;
use serde_json::Value;

use crate::common::traces;

/// A small generator: what is drawn is the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        let (factor, term) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
        self.0 = self.0.wrapping_mul(factor).wrapping_add(term);
        (self.0 >> 33) % most
    }
}

/// Clocks with an offset in ns and a rate error in parts of 10^6; that of rank 0 is true.
type Clocks = [(i64, i64); 3];

fn shown(time: u64, (offset, ppm): (i64, i64)) -> u64 {
    let time = time as i64;
    (time + offset + time * ppm / 1_000_000) as u64
}

/// Rank 0 and each of the others exchange so many messages with delays of 1 to 40 us.
fn exchange(random: &mut Random, clocks: &Clocks, messages: u64) -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(3));
    let mut time = 1_000_000_000;
    for _ in 0..messages {
        let other = 1 + random.below(2) as u32;
        for (sender, receiver) in [(0, other), (other, 0)] {
            time += 1_000 + random.below(300_000);
            let sent = shown(time, clocks[sender as usize]);
            program.on(sender).send(sent, to(receiver));
            time += 1_000 + random.below(39_000);
            let received = shown(time, clocks[receiver as usize]);
            program.on(receiver).recv(received, from(sender));
        }
    }
    program
}

fn hosts(report: &Value) -> Vec<Value> {
    report["hosts"].as_array().cloned().unwrap_or_default()
}

/// The drift of simulated clocks lies within what is said of it, however few messages there
/// are, and where there are many the bound is so near that it says something.
#[test]
fn the_true_drift_is_within_its_bound() {
    let mut random = Random(7);
    let (mut seen, mut narrowest) = (0, f64::INFINITY);
    let (step, least) = Effort::asked().pick((2, 20), (1, 40), (1, 40));
    for run in (0..40).step_by(step) {
        let mut clock = |most: u64| {
            let around = |it: u64, most: u64| it as i64 - most as i64 / 2;
            (
                around(random.below(most), most),
                around(random.below(180), 180),
            )
        };
        let clocks = [(0, 0), clock(1_000_000), clock(1_000_000)];
        let messages = 3 + run * run / 4;
        let program = exchange(&mut random, &clocks, messages);
        let scratch = traces::scratch([("trace", program)]);
        let text = scratch.succeed("correct trace -o out --always --json -");
        let report: Value = serde_json::from_str(&text).unwrap();
        for host in hosts(&report) {
            let clock = host["clock"].as_u64().unwrap() as usize;
            let Some(drift) = host["drift"].as_object().filter(|_| clock != 0) else {
                continue;
            };
            let faster = clocks[clock].1 as f64 / 1e6;
            // Of a second of the clock, not of true time.
            let truth = faster / (1.0 + faster);
            let (rate, within) = (
                drift["rate"].as_f64().unwrap(),
                drift["within"].as_f64().unwrap(),
            );
            assert!(
                (rate - truth).abs() <= within,
                "run {run}, clock {clock}: {rate} +- {within}, but it is {truth}"
            );
            seen += 1;
            narrowest = narrowest.min(within);
        }
    }
    assert!(seen >= least, "{seen}");
    // Nearer than the 90 ppm within which the clocks were drawn: so it excludes something.
    assert!(narrowest < 90e-6, "{narrowest}");
}

/// Messages to a host and none back bound its clock on one side.
#[test]
fn one_side_is_not_called_nothing() {
    let clocks = [(0, 0), (-300_000, 20), (0, 0)];
    let mut one_way = Program::with_layout(Layout::node_per_rank(3));
    let mut time = 1_000_000;
    for number in 0..60 {
        time += 50_000 + 1_000 * (number % 7);
        one_way.on(0).send(time, to(1)).send(time + 100, to(2));
        one_way.on(1).recv(shown(time + 5_000, clocks[1]), from(0));
        one_way.on(2).recv(time + 9_000, from(0));
        one_way.on(1).send(shown(time + 6_000, clocks[1]), to(0));
        one_way.on(0).recv(time + 12_000, from(1));
    }
    let scratch = traces::scratch([("one-way", one_way)]);
    let text = scratch.succeed("correct one-way -o out --always");
    let third = text
        .lines()
        .find(|it| it.contains("node2"))
        .unwrap_or(&text);
    assert!(third.contains("bounded on one side only"), "{text}");
    assert!(!third.contains("nothing relates"), "{text}");
    assert!(!third.contains("drift"), "{text}");
    let second = text
        .lines()
        .find(|it| it.contains("node1"))
        .unwrap_or(&text);
    assert!(
        second.contains("; drift ") && second.contains(" ppm, known to ±"),
        "{text}"
    );
}

/// The reference begins when its clock shows hardly anything, and another rank half a second before:
/// what that sends then would be stamped below 0, so all are moved later, the reference too.
#[test]
fn a_shift_that_all_have_in_common_is_said_and_is_no_offset() {
    let clocks = [(-1_000_000_000, 0), (-499_000_000, 0), (-999_700_000, 0)];
    let mut random = Random(5);
    let mut program = Program::with_layout(Layout::node_per_rank(3));
    program.on(1).send(shown(500_000_000, clocks[1]), to(0));
    program.on(0).recv(shown(1_000_000_100, clocks[0]), from(1));
    let mut time = 1_001_000_000;
    for number in 0..200 {
        let other = 1 + number % 2;
        for (sender, receiver) in [(0, other), (other, 0)] {
            time += 1_000 + random.below(30_000);
            let sent = shown(time, clocks[sender as usize]);
            program.on(sender).send(sent, to(receiver));
            time += 1_000 + random.below(9_000);
            let received = shown(time, clocks[receiver as usize]);
            program.on(receiver).recv(received, from(sender));
        }
    }
    let scratch = traces::scratch([("early", program)]);
    let text = scratch.succeed("correct early -o out --json out.json");
    let report: Value = serde_json::from_str(&scratch.read("out.json")).unwrap();
    let later = report["method"]["alignment"]["moved_later_ticks"].as_i64();
    // Half a second before the second at which the clock of rank 0 shows 0.
    assert!(
        later.is_some_and(|it| (it - 500_000_000).abs() < 5_000),
        "{later:?}"
    );
    assert!(
        text.contains(" moved 500 ms later for all, since a stamp would be below 0; each other"),
        "{text}"
    );
    let ahead = |host: usize| hosts(&report)[host]["ahead_ticks"].as_i64().unwrap();
    let offsets = [0, 501_000_000, 300_000];
    for (host, offset) in offsets.into_iter().enumerate() {
        assert!((ahead(host) - offset).abs() < 5_000, "{host}: {text}");
    }
}

/// Before the first message bounds widen: that is said beside what holds at messages.
#[test]
fn the_bound_of_the_whole_run_is_said_too() {
    let mut random = Random(11);
    let mut program = exchange(&mut random, &[(0, 0), (-400_000, 15), (250_000, -30)], 400);
    for rank in 0..3 {
        program
            .on(rank)
            .enter(3_000_000_000, "idle")
            .leave(4_000_000_000, "idle");
    }
    let scratch = traces::scratch([("trace", program)]);
    let text = scratch.succeed("correct trace -o out --html page.html --json report.json");
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    let bounds = &report["bounds"];
    let (at_messages, over_run) = (&bounds["largest"], &bounds["largest_over_run"]);
    let (at_messages, over_run) = (at_messages.as_f64().unwrap(), over_run.as_f64().unwrap());
    // Three seconds without a message at 100 ppm.
    assert!(at_messages < 60_000.0 && over_run > 200_000.0, "{bounds}");
    assert!(
        text.contains("at worst at events that communicate"),
        "{text}"
    );
    assert!(text.contains("over the whole run"), "{text}");
    // It is the widest of what the curves of the page show.
    let page = crate::html::data(&scratch, "page.html");
    let curves = page["picture"]["clocks"].as_array().unwrap();
    let knots = curves.iter().flat_map(|it| it["band"].as_array().unwrap());
    let widest = knots.flat_map(|it| [it[1].as_f64().unwrap(), it[2].as_f64().unwrap()]);
    let widest = widest.fold(0.0, f64::max);
    assert!((widest - over_run).abs() < 1.0, "{widest} {over_run}");
}

/// A host that only sends can be ahead by as much as it likes, and one that only receives behind.
#[test]
fn one_side_says_which_side_is_open() {
    let mut one_way = Program::with_layout(Layout::node_per_rank(4));
    let mut time = 10_000_000;
    for number in 0..60 {
        time += 50_000 + 1_000 * (number % 7);
        one_way.on(0).send(time, to(1)).send(time + 100, to(2));
        // Neither message is reversed, and either clock is off by more than its messages take.
        one_way.on(2).recv(time + 40_000, from(0));
        one_way.on(3).send(time - 40_000, to(0));
        one_way
            .on(1)
            .recv(time + 2_000, from(0))
            .send(time + 3_000, to(0));
        one_way
            .on(0)
            .recv(time + 8_000, from(1))
            .recv(time + 9_000, from(3));
    }
    let scratch = traces::scratch([("one-way", one_way)]);
    let text = scratch.succeed("correct one-way -o out --always");
    let of = |host: &str| text.lines().find(|it| it.contains(host)).unwrap_or(&text);
    let (receives, sends) = (of("node2"), of("node3"));
    assert!(
        receives.contains("only: at most ") && receives.contains(" ahead"),
        "{text}"
    );
    assert!(
        sends.contains("only: at most ") && sends.contains(" behind"),
        "{text}"
    );
}

/// Three ranks in a ring for four seconds; the clock of the first swings by 20 us, the others are ahead
/// by constants.
fn swinging(swing: bool) -> Program {
    let mut random = Random(3);
    let mut program = Program::with_layout(Layout::node_per_rank(3));
    let shown = |rank: u32, time: u64| {
        let wave = 20e3 * (2.5e-9 * time as f64).sin();
        let ahead = [if swing { wave as i64 } else { 0 }, 300_000, -200_000];
        time.wrapping_add_signed(ahead[rank as usize] * i64::from(swing))
    };
    let mut time = 1_000_000_000;
    for _ in 0..2_000 {
        for (sender, receiver) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)] {
            time += 200_000 + random.below(100_000);
            program.on(sender).send(shown(sender, time), to(receiver));
            time += 1_000 + random.below(2_000);
            program
                .on(receiver)
                .recv(shown(receiver, time), from(sender));
        }
    }
    program
}

/// The wander of the first clock is neither given to all others nor counted as an error.
#[test]
fn a_common_time_that_wanders_less_than_the_reference_is_said_and_bounded() {
    let scratch = traces::scratch([("swinging", swinging(true)), ("true", swinging(false))]);
    let correct = |reference: &str| {
        let json = format!("{reference}.json");
        let text = scratch.succeed(&format!(
            "correct swinging -o {reference} --truth true --reference {reference} --json {json}"
        ));
        let report: Value = serde_json::from_str(&scratch.read(&json)).unwrap();
        (text, report)
    };
    let (text, report) = correct("ensemble");
    let by = report["method"]["alignment"]["ahead_of_reference_ticks"].as_f64();
    assert!(by.is_some_and(|it| (15e3..25e3).contains(&it)), "{by:?}");
    assert!(
        text.contains("times are those of MPI Rank 0, less what it wanders against all clocks, "),
        "{text}"
    );
    assert!(
        text.contains("its time is the common one, less what it wanders against all clocks"),
        "{text}"
    );
    let (text, first) = correct("first");
    assert!(!text.contains("wanders"), "{text}");
    let error =
        |report: &Value| report["accuracy"]["corrected"]["relative_ticks"]["mean_abs"].as_f64();
    let errors = error(&report).zip(error(&first));
    assert!(errors.is_some_and(|it| it.0 < 0.3 * it.1), "{errors:?}");
    // Whichever time is chosen, they bound how clocks differ.
    let bound = |report: &Value| report["bounds"]["mean"].as_f64();
    let bounds = bound(&report).zip(bound(&first));
    assert!(bounds.is_some_and(|it| it.0 < 1.2 * it.1), "{bounds:?}");
}

/// Ranks that send around a ring over two nodes, whose ranks do not read one clock: no dependency
/// within a node tells, but what goes around does.
#[test]
fn a_node_of_several_clocks_is_thought_of() {
    let clocks = [0, 180_000, -220_000, 90_000].map(|offset| (offset, 0));
    let layout = Layout {
        ranks: 4,
        threads: 1,
        ranks_per_node: 2,
    };
    let mut program = Program::with_layout(layout);
    for number in 1..60 {
        let at = 1_000_000 * number;
        for rank in 0..4_u32 {
            let stamp = |time: u64| shown(time, clocks[rank as usize]);
            let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
            program
                .on(rank)
                .send(stamp(at), to(next))
                .recv(stamp(at + 10_000), from(before));
        }
    }
    let scratch = traces::scratch([("trace", program)]);
    let said = |options: &str| {
        let command = format!("check trace {options}");
        scratch.retime(&command).expect_code(1).stdout
    };
    let why = "processes of one node do not read one clock (try --clocks process)";
    assert!(said("").contains(why), "{}", said(""));
    assert!(!said("--clocks process").contains("came back before"));
}
