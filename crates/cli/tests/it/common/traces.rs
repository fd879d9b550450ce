//! Traces for the tests: a few events written down by hand, and the recording
//! that is bundled with the command.

use std::fs;
use std::path::Path;

use retime_otf2::{CollectiveOp, CollectiveRoot};
use retime_sim::{HaloExchange, Layout, Program, Spread, WORLD, from, to};

use super::Scratch;

/// The recording that `retime demo` shows.
const RECORDING: &[u8] = include_bytes!("../../../demo/halo.tar.zst");

/// Unpacks the bundled recording as directory `halo`.
pub(crate) fn recording(dir: &Path) {
    let decoder = ruzstd::decoding::StreamingDecoder::new(RECORDING).unwrap();
    tar::Archive::new(decoder).unpack(dir).unwrap();
}

/// Writes a program as `NAME/traces.otf2`.
pub(crate) fn write(dir: &Path, name: &str, program: &Program) {
    fs::create_dir_all(dir.join(name)).unwrap();
    let anchor = dir.join(name).join("traces.otf2");
    program.write(&anchor).unwrap();
}

/// A directory with these programs as traces, by name.
pub(crate) fn scratch<const N: usize>(programs: [(&str, Program); N]) -> Scratch {
    let scratch = Scratch::new();
    for (name, program) in programs {
        write(scratch.path(), name, &program);
    }
    scratch
}

/// A pipeline of two processes whose second cannot keep up: messages wait longer and
/// longer to be received, and only a few answers early on, all of them late, say
/// that this is no drift. Its clock is 5 us ahead.
pub(crate) fn backlog() -> Program {
    const AHEAD: u64 = 5_000;
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    let (mut sender, mut receiver) = (1_000_000, 1_001_000);
    for item in 0..800 {
        sender += 2_150;
        program.on(0).send(sender, to(1));
        receiver = (receiver + 2_200).max(sender + 500) + 20 * item;
        program.on(1).recv(receiver + AHEAD, from(0));
        if item % 40 == 0 && item < 200 {
            receiver += 50;
            program.on(1).send(receiver + AHEAD, to(0).tag(1));
            sender = receiver + 400 + item * 7_919 % 60_000;
            program.on(0).recv(sender, from(1).tag(1));
        }
    }
    program
}

/// Three processes that exchange messages and meet in barriers, with these
/// errors of their clocks in ns.
pub(crate) fn exchange(layout: Layout, errors: [i64; 3]) -> Program {
    let mut program = Program::with_layout(layout);
    let at = |rank: u32, time: u64| {
        (1_000_000 + time)
            .checked_add_signed(errors[rank as usize])
            .unwrap()
    };
    for rank in 0..3 {
        program.on(rank).enter(at(rank, 0), "main");
    }
    for round in 0..4 {
        let t = 1_000 + round * 10_000;
        program
            .on(0)
            .enter(at(0, t), "exchange")
            .send(at(0, t + 100), to(1))
            .recv(at(0, t + 1_500), from(1))
            .recv(at(0, t + 2_700), from(2).tag(1))
            .leave(at(0, t + 2_800), "exchange")
            .barrier(at(0, t + 5_000), at(0, t + 5_900));
        program
            .on(1)
            .enter(at(1, t), "exchange")
            .recv(at(1, t + 600), from(0))
            .send(at(1, t + 900), to(0))
            .send(at(1, t + 1_000), to(2))
            .leave(at(1, t + 1_100), "exchange")
            .barrier(at(1, t + 5_200), at(1, t + 6_000));
        program
            .on(2)
            .enter(at(2, t), "exchange")
            .recv(at(2, t + 1_800), from(1))
            .send(at(2, t + 2_000), to(0).tag(1))
            .leave(at(2, t + 2_100), "exchange")
            .barrier(at(2, t + 5_500), at(2, t + 6_100));
    }
    for rank in 0..3 {
        let begin = 50_000 + 200 * u64::from(rank);
        program
            .on(rank)
            .collective(
                at(rank, begin),
                at(rank, begin + 900),
                CollectiveOp::BCAST,
                CollectiveRoot::Rank(0),
                WORLD,
            )
            .leave(at(rank, 60_000), "main");
    }
    program
}

/// Each process on a node of its own, with clocks that disagree.
pub(crate) fn skewed() -> Program {
    exchange(Layout::node_per_rank(3), [0, 100_000, -30_000])
}

/// All processes on one node, with clocks that disagree all the same.
pub(crate) fn one_node() -> Program {
    exchange(Layout::one_node(3), [0, 100_000, -30_000])
}

/// With clocks that agree.
pub(crate) fn sound() -> Program {
    exchange(Layout::node_per_rank(3), [0; 3])
}

/// As [`skewed`], with a defect of nearly every kind.
pub(crate) fn odd() -> Program {
    let mut program = skewed();
    program
        .on(0)
        .send(1_061_000, to(2).tag(7))
        .send(1_061_100, to(9))
        .irecv_request(1_061_200, 1)
        .collective(
            1_062_000,
            1_063_000,
            CollectiveOp::ALLREDUCE,
            CollectiveRoot::None,
            WORLD,
        );
    program
        .on(1)
        .recv(1_161_000, from(2).tag(8))
        .irecv(1_161_500, from(2).tag(8), 2);
    program
        .on(2)
        .event(1_040_000, retime_sim::Event::CollectiveBegin);
    program
}

/// A location whose stamps run backwards, without any message violated.
pub(crate) fn backwards() -> Program {
    let mut program = Program::new(2);
    program.options.allow_disorder = true;
    program
        .on(0)
        .enter(100, "main")
        .enter(300, "work")
        .leave(200, "work")
        .send(400, to(1))
        .leave(500, "main");
    program.on(1).recv(900, from(0));
    program
}

/// Two processes, messages from the first to the second alone, received before
/// they are sent.
pub(crate) fn one_way(messages: u64) -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    for round in 0..messages {
        program.on(0).send(10_000 + 1_000 * round, to(1));
        program.on(1).recv(9_500 + 1_000 * round, from(0));
    }
    program
}

/// Messages both ways to a clock that is set forward and back in turn, from round
/// to round: no constant offset, and no line, can satisfy them.
pub(crate) fn bent(rounds: u64) -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    for round in 0..rounds {
        let at = 100_000 + 100_000 * round;
        let ahead = 5_000 * (round % 2);
        program.on(0).send(at, to(1)).recv(at + 200, from(1));
        program.on(1).recv(at + 50 + ahead, from(0));
        program.on(1).send(at + 100 + ahead, to(0));
    }
    program
}

/// A halo exchange of at least so many events, with clocks that disagree.
pub(crate) fn halo(dir: &Path, name: &str, events: u64) {
    let mut program = HaloExchange {
        grid: (2, 2),
        seed: 7,
        ..HaloExchange::default()
    };
    let spread = Spread {
        offset: 100_000.0,
        drift: 2e-6,
        ..Spread::default()
    };
    program.clocks = spread.per_process(&program.layout(), program.seed);
    program.iterations = program.iterations_for(events).unwrap();
    fs::create_dir_all(dir.join(name)).unwrap();
    program.write(&dir.join(name).join("traces.otf2")).unwrap();
}
