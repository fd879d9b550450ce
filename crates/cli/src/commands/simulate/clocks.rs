//! From options to clocks.

use retime_sim::{Clock, Glitches, Jumps, Layout, Ntp, RandomWalk, Scenario, Spread, Timer};

use super::args::{ClockArgs, SharingName};
use crate::error::CliError;
use crate::quantity::{Off, Time};

/// The clock of each rank.
pub(super) fn build(
    args: &ClockArgs,
    scenario: &dyn Scenario,
    seed: u64,
) -> Result<Vec<Clock>, CliError> {
    let layout = scenario.layout();
    let spread = spread(args, scenario)?;
    let mut clocks = match args.clocks {
        SharingName::Process => spread.per_process(&layout, seed),
        SharingName::Node => spread.per_node(&layout, seed),
    };
    set_off(&mut clocks, args, &layout)?;
    Ok(clocks)
}

/// Refuses clocks that would take for ever to draw, or would turn back.
fn refuse_senseless(args: &ClockArgs) -> Result<(), CliError> {
    let short = |time: Time| time.0 < 1e3;
    if args.walk.is_some() && short(args.walk_every) || args.ntp.is_some_and(short) {
        let message = "--walk-every and --ntp: clocks cannot change more often than every 1us";
        return Err(CliError::Usage(message.into()));
    }
    let wander = args.wander.0 * std::f64::consts::TAU / args.wander_period.0.max(1.0);
    let walk = args.walk.map_or(0.0, |rate| rate.0);
    let slew = args.ntp.map_or(0.0, |_| args.ntp_slew.0);
    if args.drift.0 + wander + walk + slew >= 1.0 {
        let message = "--drift, --wander, --walk and --ntp-slew together would make clocks run \
                       backwards; give a longer --wander-period, or less of them";
        return Err(CliError::Usage(message.into()));
    }
    Ok(())
}

fn spread(args: &ClockArgs, scenario: &dyn Scenario) -> Result<Spread, CliError> {
    refuse_senseless(args)?;
    let until = end_of_events(args, scenario)?;
    let jumps = (args.jumps > 0).then_some(Jumps {
        count: args.jumps,
        size: args.jump_size.0,
        until,
    });
    let glitches = (args.glitches > 0).then_some(Glitches {
        count: args.glitches,
        size: args.glitch_size.0,
        until,
    });
    let walk = args.walk.map(|limit| RandomWalk {
        every: at_least_1(args.walk_every.0),
        change: limit.0 / 10.0,
        limit: limit.0,
        seed: 0,
    });
    let ntp = args.ntp.map(|interval| Ntp {
        interval: at_least_1(interval.0),
        noise: args.ntp_noise.0,
        slew: args.ntp_slew.0,
        threshold: args.ntp_threshold.0,
        seed: 0,
    });
    Ok(Spread {
        offset: args.offset.0,
        drift: args.drift.0,
        wander: args.wander.0,
        period: args.wander_period.0.max(1.0),
        step: at_least_1(args.tick.0),
        bend: args.bend.0,
        walk,
        jumps,
        glitches,
        ntp,
        backwards: args.backwards,
    })
}

/// When the program ends, over which what happens at random times is spread.
fn end_of_events(args: &ClockArgs, scenario: &dyn Scenario) -> Result<u64, CliError> {
    if args.jumps == 0 && args.glitches == 0 {
        return Ok(0);
    }
    let dry = scenario.run(&mut ());
    let dry = dry.map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(dry.end)
}

fn at_least_1(nanoseconds: f64) -> u64 {
    (nanoseconds as u64).max(1)
}

fn set_off(clocks: &mut [Clock], args: &ClockArgs, layout: &Layout) -> Result<(), CliError> {
    for wrong in &args.wrong_clock {
        let shared = |rank: u32| {
            rank == wrong.rank
                || args.clocks == SharingName::Node && layout.node(rank) == layout.node(wrong.rank)
        };
        if wrong.rank >= layout.ranks {
            return Err(CliError::Usage(format!(
                "--wrong-clock: there is no rank {} among {}",
                wrong.rank, layout.ranks
            )));
        }
        for (rank, clock) in (0..).zip(clocks.iter_mut()) {
            match wrong.by {
                Off::Ahead(time) if shared(rank) => clock.offset += time as i64,
                Off::Fast(rate) if shared(rank) => clock.drift += rate,
                _ => {}
            }
        }
    }
    Ok(())
}

/// How times are written down: from one second on, or later if a clock is
/// further behind at the start.
pub(super) fn timer(args: &ClockArgs, clocks: &[Clock]) -> Timer {
    let resolution = args.resolution.0;
    let behind = clocks.iter().map(|clock| -clock.offset).max();
    let seconds = behind.unwrap_or(0).max(0) as u64 / 1_000_000_000 + 1;
    Timer {
        resolution,
        epoch: args
            .epoch
            .map_or(resolution.saturating_mul(seconds), |epoch| epoch.0),
    }
}
