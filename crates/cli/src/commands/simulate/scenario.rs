//! From options to a program.

use retime_sim::{
    Collective, Duration, FiniteElements, HaloExchange, Length, Network, ProducerConsumer,
    RandomTraffic, RingChain, Scenario,
};

use super::args::{CollectiveName, NetworkArgs, ProgramArgs, ScenarioName, SimulateArgs, TailName};
use crate::error::CliError;
use crate::quantity::Grid;

/// Events if nothing is said.
const EVENTS: u64 = 100_000;

/// The program that the options describe.
pub(super) fn build(args: &SimulateArgs) -> Result<Box<dyn Scenario>, CliError> {
    refuse_foreign(args)?;
    Ok(match args.scenario {
        ScenarioName::Halo => Box::new(halo(args)?),
        ScenarioName::FiniteElements => Box::new(finite_elements(args)?),
        ScenarioName::Ring => Box::new(ring(args)?),
        ScenarioName::ProducerConsumer => Box::new(producer_consumer(args)?),
        ScenarioName::Random => Box::new(random(args)?),
    })
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
        grid: grid(program, (2, 2)),
        periodic: !program.open_grid,
        iterations: 0,
        seed: args.seed,
        collective,
        collective_every: every,
        ranks_per_node: program.ranks_per_node.unwrap_or(u32::MAX),
        threads: program.threads.unwrap_or(1),
        threads_send: program.threads_send,
        network: network(&args.network, default.network)?,
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
        grid: grid(&args.program, default.grid),
        length: length(&args.program),
        seed: args.seed,
        interior: compute(&args.program, default.interior),
        network: network(&args.network, default.network)?,
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
        network: network(&args.network, default.network)?,
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
        network: network(&args.network, default.network)?,
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
        network: network(&args.network, default.network)?,
        ..default
    })
}

fn grid(program: &ProgramArgs, default: (u32, u32)) -> (u32, u32) {
    match (program.grid, program.ranks) {
        (Some(Grid(rows, columns)), _) => (rows, columns),
        (None, Some(ranks)) => HaloExchange::square_grid(ranks),
        (None, None) => default,
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

fn network(args: &NetworkArgs, default: Network) -> Result<Network, CliError> {
    if !(0.001..=1000.0).contains(&args.uphill) {
        return Err(CliError::Usage(
            "--uphill: give a factor from 0.001 to 1000".into(),
        ));
    }
    let change = |duration: Duration| Duration {
        least: args.min_delay.map_or(duration.least, |time| time.0 as u64),
        tail: match (args.delay_distribution, args.delay_excess, args.min_delay) {
            (Some(TailName::Constant), ..) => 0.0,
            (_, Some(excess), _) => excess.0,
            (_, None, Some(least)) => least.0,
            (_, None, None) => duration.tail,
        },
        shape: args
            .delay_distribution
            .map_or(duration.shape, TailName::shape),
    };
    Ok(Network {
        within_node: change(default.within_node),
        between_nodes: change(default.between_nodes),
        collective: change(default.collective),
        uphill: args.uphill,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{Cli, Command};
    use clap::Parser;
    use retime_sim::Tail;

    fn parsed(words: &str) -> SimulateArgs {
        let words = format!("retime simulate {words} -o x");
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Simulate(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn delays_follow_the_options() {
        let of = |words: &str| network(&parsed(words).network, Network::default()).unwrap();
        assert_eq!(of("halo"), Network::default());
        let both = Duration::exponential(5_000, 5_000.0);
        assert_eq!(of("halo --min-delay 5us").between_nodes, both);
        let heavy = of("halo --min-delay 5us --delay-excess 1us --delay-distribution heavy");
        assert_eq!(heavy.within_node, Duration::heavy(5_000, 1_000.0));
        let constant = of("halo --min-delay 5us --delay-distribution constant");
        assert_eq!(constant.collective, Duration::constant(5_000));
        let plain = of("halo --delay-distribution uniform").within_node;
        assert_eq!(
            (plain.least, plain.tail, plain.shape),
            (176, 400.0, Tail::Uniform)
        );
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
    }
}
