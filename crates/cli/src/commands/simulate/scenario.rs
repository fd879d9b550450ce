//! From options to a program.

use retime_sim::{
    Collective, Congestion, Duration, FiniteElements, HaloExchange, Length, Load, Network,
    ProducerConsumer, RandomTraffic, RingChain, Scenario, Tail, Victims,
};

use super::args::{
    CollectiveName, LoadArgs, NetworkArgs, ProgramArgs, ScenarioName, SimulateArgs, TailName,
};
use crate::error::CliError;
use crate::quantity::{Grid, Time};

/// Events if nothing is said.
const EVENTS: u64 = 100_000;

/// The program that the options describe.
pub(super) fn build(args: &SimulateArgs) -> Result<Box<dyn Scenario>, CliError> {
    refuse_foreign(args)?;
    let scenario: Box<dyn Scenario> = match args.scenario {
        ScenarioName::Halo => Box::new(halo(args)?),
        ScenarioName::FiniteElements => Box::new(finite_elements(args)?),
        ScenarioName::Ring => Box::new(ring(args)?),
        ScenarioName::ProducerConsumer => Box::new(producer_consumer(args)?),
        ScenarioName::Random => Box::new(random(args)?),
    };
    let ranks = scenario.layout().ranks;
    match args.load.load {
        Some(Victims::Rank(rank)) if rank >= ranks => Err(CliError::Usage(format!(
            "--load: there is no rank {rank} among {ranks}"
        ))),
        _ => Ok(scenario),
    }
}

/// Options that the scenario does not have.
fn refuse_foreign(args: &SimulateArgs) -> Result<(), CliError> {
    let program = &args.program;
    let halo = args.scenario == ScenarioName::Halo;
    let grid = halo || args.scenario == ScenarioName::FiniteElements;
    let ring = args.scenario == ScenarioName::Ring;
    let given = [
        (
            "--grid",
            program.grid.is_some(),
            grid,
            "halo and finite-elements",
        ),
        ("--threads", program.threads.is_some(), halo, "halo"),
        ("--threads-send", program.threads_send, halo, "halo"),
        ("--open-grid", program.open_grid, halo, "halo"),
        ("--collective", program.collective.is_some(), halo, "halo"),
        ("--every", program.every.is_some(), halo, "halo"),
        ("--coarse-clocks", args.clocks.coarse_clocks, ring, "ring"),
        (
            "--ranks-per-node",
            program.ranks_per_node.is_some(),
            halo || !grid && !ring,
            "halo, producer-consumer and random",
        ),
    ];
    match given.into_iter().find(|it| it.1 && !it.2) {
        Some((option, _, _, whose)) => {
            Err(CliError::Usage(format!("{option} is for {whose} only")))
        }
        None => Ok(()),
    }
}

fn halo(args: &SimulateArgs) -> Result<HaloExchange, CliError> {
    let default = HaloExchange::default();
    let program = &args.program;
    let collective = match program.collective {
        Some(CollectiveName::Barrier) => Collective::Barrier,
        _ => Collective::Allreduce,
    };
    let every = match program.collective {
        Some(CollectiveName::None) => 0,
        _ => program.every.unwrap_or(1),
    };
    let mut halo = HaloExchange {
        grid: grid(program).unwrap_or((2, 2)),
        periodic: !program.open_grid,
        iterations: 0,
        seed: args.seed,
        collective,
        collective_every: every,
        ranks_per_node: program.ranks_per_node.unwrap_or(u32::MAX),
        threads: program.threads.unwrap_or(1),
        threads_send: program.threads_send,
        network: network(args, default.network)?,
        load: load(&args.load)?,
        compute: compute(program, default.compute),
        ..default
    };
    let length = length(program);
    if length.events > 0 {
        let iterations = halo.iterations_for(length.events);
        halo.iterations = iterations.map_err(|error| CliError::Usage(error.to_string()))?;
    } else {
        halo.length = length;
    }
    Ok(halo)
}

fn finite_elements(args: &SimulateArgs) -> Result<FiniteElements, CliError> {
    let default = FiniteElements::default();
    Ok(FiniteElements {
        grid: grid(&args.program).unwrap_or(default.grid),
        length: length(&args.program),
        seed: args.seed,
        interior: compute(&args.program, default.interior),
        network: network(args, default.network)?,
        load: load(&args.load)?,
        ..default
    })
}

/// A chain up and down the ranks.
pub(super) fn ring(args: &SimulateArgs) -> Result<RingChain, CliError> {
    let default = RingChain::default();
    Ok(RingChain {
        ranks: args.program.ranks.unwrap_or(default.ranks),
        length: length(&args.program),
        seed: args.seed,
        network: network(args, default.network)?,
        load: load(&args.load)?,
        handling: args
            .program
            .compute
            .map_or(default.handling, |time| time.0 as u64),
        ..default
    })
}

fn producer_consumer(args: &SimulateArgs) -> Result<ProducerConsumer, CliError> {
    let default = ProducerConsumer::default();
    let ranks = ranks_of_two_or_more(&args.program)?;
    Ok(ProducerConsumer {
        producers: ranks.div_ceil(2),
        consumers: ranks / 2,
        ranks_per_node: args.program.ranks_per_node.unwrap_or(u32::MAX),
        length: length(&args.program),
        seed: args.seed,
        production: compute(&args.program, default.production),
        network: network(args, default.network)?,
        load: load(&args.load)?,
        ..default
    })
}

fn random(args: &SimulateArgs) -> Result<RandomTraffic, CliError> {
    let default = RandomTraffic::default();
    Ok(RandomTraffic {
        ranks: ranks_of_two_or_more(&args.program)?,
        ranks_per_node: args.program.ranks_per_node.unwrap_or(u32::MAX),
        length: length(&args.program),
        seed: args.seed,
        compute: compute(&args.program, default.compute),
        network: network(args, default.network)?,
        load: load(&args.load)?,
        ..default
    })
}

/// The rows and columns of ranks that were asked for.
fn grid(program: &ProgramArgs) -> Option<(u32, u32)> {
    match (program.grid, program.ranks) {
        (Some(Grid(rows, columns)), _) => Some((rows, columns)),
        (None, Some(ranks)) => Some(HaloExchange::square_grid(ranks)),
        (None, None) => None,
    }
}

fn ranks_of_two_or_more(program: &ProgramArgs) -> Result<u32, CliError> {
    match program.ranks.unwrap_or(4) {
        1 => Err(CliError::Usage(
            "--ranks: a process alone has nobody to send to; this scenario takes 2 or more".into(),
        )),
        ranks => Ok(ranks),
    }
}

fn length(program: &ProgramArgs) -> Length {
    match (program.iterations, program.duration, program.events) {
        (Some(iterations), ..) => Length::iterations(iterations.0),
        (_, Some(time), _) => Length::time(time.0 as u64),
        (.., events) => Length::events(events.map_or(EVENTS, |events| events.0)),
    }
}

/// Four fifths at least, and the rest on average.
fn compute(program: &ProgramArgs, default: Duration) -> Duration {
    program.compute.map_or(default, |time| {
        Duration::exponential((time.0 * 0.8) as u64, time.0 * 0.2)
    })
}

/// Refuses networks that would turn time back, or never end.
fn refuse_senseless(args: &NetworkArgs) -> Result<(), CliError> {
    if !(0.001..=1000.0).contains(&args.uphill) {
        return Err(CliError::Usage(
            "--uphill: give a factor from 0.001 to 1000".into(),
        ));
    }
    if !(1.01..=1000.0).contains(&args.tail_index) {
        return Err(CliError::Usage(
            "--tail-index: give a number from 1.01 to 1000; with less there is no average".into(),
        ));
    }
    Ok(())
}

fn shape(args: &NetworkArgs) -> Option<Tail> {
    Some(match args.delay_distribution? {
        TailName::Uniform => Tail::Uniform,
        TailName::Constant | TailName::Exponential => Tail::Exponential,
        TailName::Heavy => Tail::Heavy {
            index: args.tail_index,
        },
    })
}

fn load(args: &LoadArgs) -> Result<Load, CliError> {
    let default = Load::default();
    if args.load_turn.0 < 1e3 {
        let message = "--load-turn: no processor changes hands more often than every 1us";
        return Err(CliError::Usage(message.into()));
    }
    let up_to = |time: Time, part: f64| Duration::uniform((time.0 / part) as u64, time.0 as u64);
    Ok(args.load.map_or(default, |victims| Load {
        share: args.load_share.0,
        lasts: up_to(args.load_lasts, 50.0),
        turn: up_to(args.load_turn, 10.0),
        victims,
    }))
}

fn network(args: &SimulateArgs, default: Network) -> Result<Network, CliError> {
    let (args, seed) = (&args.network, args.seed);
    refuse_senseless(args)?;
    let change = |duration: Duration| Duration {
        least: args.min_delay.map_or(duration.least, |time| time.0 as u64),
        tail: match (args.delay_distribution, args.delay_excess, args.min_delay) {
            (Some(TailName::Constant), ..) => 0.0,
            (_, Some(excess), _) => excess.0,
            (_, None, Some(least)) => least.0,
            (_, None, None) => duration.tail,
        },
        shape: shape(args).unwrap_or(duration.shape),
    };
    let congestion = args.congestion.map(|delay| Congestion {
        share: args.congestion_share.0,
        lasts: args.congestion_lasts.0 as u64,
        delay: Duration::exponential(0, delay.0),
        seed,
    });
    Ok(Network {
        within_node: change(default.within_node),
        between_nodes: change(default.between_nodes),
        collective: change(default.collective),
        uphill: args.uphill,
        congestion,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{Cli, Command};
    use clap::Parser;

    fn parsed(words: &str) -> SimulateArgs {
        let words = format!("retime simulate {words} -o x");
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Simulate(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn delays_follow_the_options() {
        let of = |words: &str| network(&parsed(words), Network::default()).unwrap();
        assert_eq!(of("halo"), Network::default());
        let both = Duration::exponential(5_000, 5_000.0);
        assert_eq!(of("halo --min-delay 5us").between_nodes, both);
        let heavy = of("halo --min-delay 5us --delay-excess 1us --delay-distribution heavy");
        assert_eq!(heavy.within_node, Duration::heavy(5_000, 1_000.0));
        let heavier = of("halo --delay-distribution heavy --tail-index 1.5").collective;
        assert_eq!(heavier.shape, Tail::Heavy { index: 1.5 });
        let constant = of("halo --min-delay 5us --delay-distribution constant");
        assert_eq!(constant.collective, Duration::constant(5_000));
        let plain = of("halo --delay-distribution uniform").within_node;
        assert_eq!(
            (plain.least, plain.tail, plain.shape),
            (176, 400.0, Tail::Uniform)
        );
    }

    #[test]
    fn load_and_congestion_are_there_if_wanted() {
        let of = |words: &str| load(&parsed(words).load).unwrap();
        assert_eq!(of("halo --load-share 50%"), Load::default());
        let usual = Load {
            share: 0.2,
            ..Load::default()
        };
        assert_eq!(of("halo --load processes"), usual);
        let one = of("ring --load 3 --load-share 100% --load-turn 4ms");
        assert_eq!((one.share, one.victims), (1.0, Victims::Rank(3)));
        assert_eq!(one.turn, Duration::uniform(400_000, 4_000_000));
        let congested = parsed("random --congestion 5us --congestion-lasts 2s --seed 9");
        let congested = network(&congested, Network::default()).unwrap().congestion;
        let expected = Congestion {
            share: 0.2,
            lasts: 2_000_000_000,
            delay: Duration::exponential(0, 5_000.0),
            seed: 9,
        };
        assert_eq!(congested, Some(expected));
    }

    #[test]
    fn options_of_other_scenarios_are_refused() {
        let refused = |words: &str| build(&parsed(words)).err().map(|error| error.to_string());
        assert_eq!(refused("halo --grid 2x3 --threads 2 --every 4"), None);
        assert_eq!(refused("ring --coarse-clocks"), None);
        let message = |text: &str| Some(text.to_owned());
        assert_eq!(
            refused("random --grid 2x3"),
            message("--grid is for halo and finite-elements only")
        );
        assert_eq!(
            refused("ring --threads 2"),
            message("--threads is for halo only")
        );
        assert_eq!(
            refused("halo --coarse-clocks"),
            message("--coarse-clocks is for ring only")
        );
        assert!(refused("random --ranks 1").is_some());
        assert!(refused("halo --uphill 0").is_some());
        assert!(refused("halo --tail-index 1").is_some());
        assert!(refused("halo --load nodes --load-turn 0").is_some());
        assert_eq!(
            refused("halo --load 4"),
            message("--load: there is no rank 4 among 4")
        );
    }
}
