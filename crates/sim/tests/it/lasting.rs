//! Delays that last: load and congestion.

use retime::causality::EventNode;
use retime_sim::{
    Congestion, Duration, Experiment, HaloExchange, InMemory, Length, Load, Network,
    ProducerConsumer, Scenario, Victims,
};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// One process that sends to another, which waits for it.
fn pair(every: u64, latency: Duration) -> ProducerConsumer {
    ProducerConsumer {
        length: Length::time(4_000 * MS),
        production: Duration::uniform(every / 2, every * 3 / 2),
        consumption: Duration::constant(0),
        network: Network::of(latency),
        seed: 2,
        ..ProducerConsumer::default()
    }
}

fn simulated(scenario: &dyn Scenario) -> InMemory {
    Experiment::new(scenario).in_memory().unwrap()
}

/// When each message was sent, and how long it took.
fn delays(scenario: &dyn Scenario) -> Vec<(u64, u64)> {
    let memory = simulated(scenario);
    let time = |node: EventNode| memory.truth[node.index()].0;
    let messages = memory.messages.iter();
    let delays = messages.map(|&(send, receive)| (time(send), time(receive) - time(send)));
    delays.collect()
}

fn mean(of: impl Iterator<Item = f64> + Clone) -> f64 {
    of.clone().sum::<f64>() / of.count() as f64
}

#[test]
fn load_delays_what_its_victim_sends_and_what_it_gets() {
    let idle = pair(5 * MS, Duration::constant(MS));
    assert!(delays(&idle).iter().all(|it| it.1 < MS + US));
    for victim in [0, 1] {
        let load = Load {
            share: 1.0,
            victims: Victims::Rank(victim),
            ..Load::default()
        };
        let delays = delays(&ProducerConsumer {
            load,
            ..idle.clone()
        });
        assert!(delays.iter().all(|it| it.1 >= MS), "{victim}");
        let mean = mean(delays.iter().map(|it| it.1 as f64));
        assert!(mean > 1.4 * MS as f64, "{victim}: {mean}");
    }
}

/// The correlation of the least delay of each 10 ms with that of the next.
fn persistence(scenario: &dyn Scenario) -> f64 {
    let mut least = vec![u64::MAX; 400];
    for (sent, delay) in delays(scenario) {
        if let Some(least) = least.get_mut(((sent - 1_000_000_000) / (10 * MS)) as usize) {
            *least = delay.min(*least);
        }
    }
    let middle = mean(least.iter().map(|&it| it as f64));
    let off = |it: u64| it as f64 - middle;
    let next = least.windows(2).map(|it| off(it[0]) * off(it[1]));
    mean(next) / mean(least.iter().map(|&it| off(it) * off(it)))
}

#[test]
fn congestion_lasts() {
    let free = pair(200 * US, Duration::exponential(2 * US, 2_000.0));
    let congestion = Congestion {
        share: 0.3,
        lasts: 300 * MS,
        delay: Duration::exponential(0, 20_000.0),
        seed: 5,
    };
    let congested = ProducerConsumer {
        network: Network {
            congestion: Some(congestion),
            ..free.network
        },
        ..free.clone()
    };
    assert!(delays(&congested).iter().all(|it| it.1 >= 2 * US));
    let (with, without) = (persistence(&congested), persistence(&free));
    assert!(without.abs() < 0.2, "{without}");
    assert!(with > 0.8, "{with}");
}

#[test]
fn collectives_wait_for_whoever_has_no_turn() {
    let idle = HaloExchange {
        iterations: 3_000,
        seed: 4,
        ..HaloExchange::default()
    };
    let load = Load {
        share: 1.0,
        victims: Victims::Rank(3),
        ..Load::default()
    };
    let loaded = HaloExchange {
        load,
        ..idle.clone()
    };
    // Time from the last begin to the end of rank 0.
    let waits = |program: &HaloExchange| -> Vec<u64> {
        let memory = simulated(program);
        let time = |node: EventNode| memory.truth[node.index()].0;
        let wait = |all: &Vec<(EventNode, EventNode)>| {
            let last = all.iter().map(|it| time(it.0)).max();
            time(all[0].1) - last.unwrap()
        };
        memory.collectives.iter().map(wait).collect()
    };
    let long = |waits: &[u64]| waits.iter().filter(|&&it| it > 100 * US).count();
    let (idle, loaded) = (waits(&idle), waits(&loaded));
    assert_eq!(long(&idle), 0);
    assert!(long(&loaded) > 0);
    assert!(loaded.iter().all(|&it| it >= 285));
}
