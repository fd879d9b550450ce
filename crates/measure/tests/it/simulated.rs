//! Processes played by threads, over links whose delays are random and differ by direction,
//! with clocks that are off and drift: what is measured is within its bound, always.
//!
//! Time is simulated: a message carries the true moment of its arrival, and who takes it
//! goes on from there. So the same seed gives the same figures.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use proptest::prelude::*;
use retime_measure::{Exchange, Measured, Tree, Words, measure};
use retime_model::Timestamp;

/// What a link carries: the true moment of arrival in ns, and the words.
struct Letter {
    arrives: u64,
    words: Words,
}

/// A clock: what it shows at the true moment 0, and by how many ppm it is too fast.
#[derive(Clone, Copy, Debug)]
struct Skew {
    offset: u64,
    ppm: i64,
}

impl Skew {
    fn shows(self, moment: u64) -> u64 {
        let gained = i128::from(moment) * i128::from(self.ppm) / 1_000_000;
        (i128::from(self.offset) + i128::from(moment) + gained) as u64
    }
}

struct Process {
    rank: usize,
    moment: u64,
    skew: Skew,
    random: u64,
    to: Vec<Sender<Letter>>,
    from: Vec<Receiver<Letter>>,
    sent: u32,
}

impl Process {
    fn below(&mut self, bound: u64) -> u64 {
        // Numerical Recipes, "quick and dirty" generators: the upper bits will do.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.random >> 33) % bound
    }

    /// Ranks of a node are near; up is slower than down; now and then something comes between.
    fn delay(&mut self, to: usize) -> u64 {
        let least = if to / 4 == self.rank / 4 { 200 } else { 1_500 };
        let uneven = if to > self.rank { 900 } else { 0 };
        let rare = if self.below(5) == 0 { 50_000 } else { 300 };
        least + uneven + self.below(rare)
    }
}

impl Exchange for Process {
    type Error = Infallible;

    fn rank(&self) -> usize {
        self.rank
    }

    fn send(&mut self, to: usize, words: Words) -> Result<(), Infallible> {
        self.sent += 1;
        self.moment += 20;
        let arrives = self.moment + self.delay(to);
        self.to[to].send(Letter { arrives, words }).unwrap();
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Words, Infallible> {
        let letter = self.from[from].recv().unwrap();
        self.moment = self.moment.max(letter.arrives) + 20;
        Ok(letter.words)
    }

    fn now(&mut self) -> Timestamp {
        self.moment += 25;
        Timestamp(self.skew.shows(self.moment))
    }
}

/// What a process has measured, and how many messages it has sent.
struct Outcome {
    measured: Option<Measured>,
    sent: u32,
}

/// Lets a process for each clock measure, four on a node.
fn run(clocks: &[Skew], seed: u64) -> Vec<Outcome> {
    let size = clocks.len();
    let nodes: Vec<usize> = (0..size).map(|rank| rank / 4).collect();
    let tree = Tree::new(&nodes);
    let mut senders: Vec<Vec<Sender<Letter>>> = (0..size).map(|_| Vec::new()).collect();
    let mut receivers: Vec<Vec<Receiver<Letter>>> = (0..size).map(|_| Vec::new()).collect();
    for to in &mut receivers {
        for from in &mut senders {
            let (sender, receiver) = channel();
            from.push(sender);
            to.push(receiver);
        }
    }
    let ends = senders.into_iter().zip(receivers).enumerate();
    let processes = ends.map(|(rank, (to, from))| Process {
        rank,
        moment: 1_000_000 + 700 * rank as u64,
        skew: clocks[rank],
        random: seed.wrapping_add(977 * rank as u64),
        to,
        from,
        sent: 0,
    });
    let processes: Vec<Process> = processes.collect();
    thread::scope(|scope| {
        let tree = &tree;
        let running = processes.into_iter().map(|mut process| {
            scope.spawn(move || {
                let measured = measure(&mut process, tree).unwrap();
                let sent = process.sent;
                // The links of this process stay open until all others are done with them.
                (Outcome { measured, sent }, process)
            })
        });
        let running: Vec<_> = running.collect();
        let done: Vec<_> = running.into_iter().map(|it| it.join().unwrap()).collect();
        done.into_iter().map(|it| it.0).collect()
    })
}

/// The true moment at which a clock shows that.
fn moment(skew: Skew, shown: u64) -> u64 {
    let (mut low, mut high) = (0, 1 << 40);
    while low < high {
        let middle = u64::midpoint(low, high);
        if skew.shows(middle) < shown {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn clock() -> impl Strategy<Value = Skew> {
    let shared = Just(Skew {
        offset: 5_000_000,
        ppm: 0,
    });
    let own = (0..10_000_000_u64, -50..=50_i64).prop_map(|(offset, ppm)| Skew { offset, ppm });
    prop_oneof![shared, own]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_truth_is_within_the_bound(
        clocks in prop::collection::vec(clock(), 1..40),
        seed in any::<u64>(),
    ) {
        for (rank, outcome) in run(&clocks, seed).into_iter().enumerate() {
            let measured = outcome.measured.unwrap();
            let then = moment(clocks[rank], measured.at.0);
            let truth = clocks[0].shows(then).cast_signed() - measured.at.0.cast_signed();
            let error = (truth - measured.offset.0).abs();
            prop_assert!(error <= measured.bound.0, "rank {}: {} off, {:?}", rank, error, measured);
            prop_assert!(outcome.sent <= 110, "rank {}: {} messages", rank, outcome.sent);
        }
    }
}

#[test]
fn ranks_of_a_node_with_one_clock_stay_as_they_are_to_each_other() {
    let clocks: Vec<Skew> = (0..16)
        .map(|rank| Skew {
            offset: 1_000 + 300_000 * (rank / 4),
            ppm: 0,
        })
        .collect();
    let measured = run(&clocks, 7);
    let offsets: Vec<i64> = measured
        .iter()
        .map(|it| it.measured.unwrap().offset.0)
        .collect();
    for node in offsets.chunks(4) {
        assert!(node.iter().all(|it| *it == node[0]), "{offsets:?}");
    }
    let fits = (-302_000..-298_000).contains(&offsets[4]);
    assert!(fits, "{offsets:?}");
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let clocks = [Skew { offset: 9, ppm: 3 }; 9];
    let figures = || run(&clocks, 3).into_iter().map(|it| it.measured);
    assert!(figures().eq(figures()));
}
