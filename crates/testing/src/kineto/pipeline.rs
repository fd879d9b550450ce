//! Pipelines: stages that take microbatches in the order 1F1B.
//!
//! Each stage does its work in an order of its own, and meets its neighbours where they exchange
//! something. On a link between two stages the exchanges of the one come in the order of those of the
//! other, so each stage goes on until its neighbour is there, too:
//!
//! ```text
//! stage 0   F s  F s            F sr  B  F sr  B     r B  r B
//! stage 1        r F s  r F sr  B ...
//! ```
//!
//! Source: D. Narayanan et al., *Efficient Large-Scale Language Model Training on GPU Clusters Using
//! Megatron-LM* (2021), figure 4; `schedules.py` of Megatron-LM.

use super::{
    groups::Groups,
    happened::{Batch, Call, Instance, Payload, Role, Span, What},
    job::{Among, Style},
    simulation::{Begun, EAGER, LATENCY, Simulation},
};
use retime_sim::Duration;

/// A piece of work of a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Forward,
    Backward,
    /// It meets the stage behind a link, the first of which leads from the first stage to the second.
    Meet {
        link: usize,
        /// Something goes to the later stage.
        forward: bool,
        /// Something comes back.
        backward: bool,
    },
}

/// The work of a stage, in its order.
fn order(stage: usize, stages: usize, microbatches: usize) -> Vec<Work> {
    let ahead = (stages - stage - 1).min(microbatches);
    let steady = microbatches - ahead;
    let meet = |link: Option<usize>, forward, backward| {
        let link = link.filter(|it| *it + 1 < stages);
        link.map(|link| Work::Meet {
            link,
            forward,
            backward,
        })
    };
    let (before, behind) = (stage.checked_sub(1), Some(stage));
    let mut work = Vec::new();
    for _ in 0..ahead {
        work.extend(meet(before, true, false));
        work.push(Work::Forward);
        work.extend(meet(behind, true, false));
    }
    if steady > 0 {
        work.extend(meet(before, true, false));
    }
    for number in 0..steady {
        work.push(Work::Forward);
        work.extend(meet(behind, true, true));
        work.push(Work::Backward);
        work.extend(meet(before, number + 1 < steady, true));
    }
    for _ in 0..ahead {
        work.extend(meet(behind, false, true));
        work.push(Work::Backward);
        work.extend(meet(before, false, true));
    }
    work
}

impl Simulation<'_> {
    /// Takes microbatches through all pipelines.
    pub(super) fn pipelines(
        &mut self,
        microbatches: u32,
        forward: Duration,
        payload: Payload,
        coalesced: bool,
        late: &mut [u64],
    ) {
        let groups: &Groups = self.groups;
        for group in groups.among(Among::Stages) {
            let ranks = &groups.get(group).ranks;
            let mut left: Vec<std::collections::VecDeque<Work>> = (0..ranks.len())
                .map(|stage| order(stage, ranks.len(), microbatches as usize).into())
                .collect();
            while left.iter().any(|it| !it.is_empty()) {
                for (stage, &rank) in ranks.iter().enumerate() {
                    self.work(rank, &mut left[stage], forward, late);
                }
                for link in 0..ranks.len().saturating_sub(1) {
                    let next = |stage: usize| left[stage].front().copied();
                    let is_there = |work: Option<Work>| matches!(work, Some(Work::Meet { link: its, .. }) if its == link);
                    if !is_there(next(link)) || !is_there(next(link + 1)) {
                        continue;
                    }
                    let both = [link, link + 1].map(|stage| left[stage].pop_front());
                    if let Some(Work::Meet {
                        forward, backward, ..
                    }) = both[0]
                    {
                        assert!(both[0] == both[1], "stages meet for the same");
                        let ends = [ranks[link], ranks[link + 1]];
                        let ways = [(forward, ends), (backward, [ends[1], ends[0]])];
                        let ways = ways.into_iter().filter(|it| it.0).map(|it| it.1);
                        let ways: Vec<[u32; 2]> = ways.collect();
                        if coalesced && self.run.style == Style::Nccl {
                            self.exchange(group, ends, &ways, payload);
                        } else {
                            for way in ways {
                                self.message(group, way, payload);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Computes until the stage meets another.
    fn work(
        &mut self,
        rank: u32,
        left: &mut std::collections::VecDeque<Work>,
        forward: Duration,
        late: &mut [u64],
    ) {
        let style = self.run.style;
        while let Some(work @ (Work::Forward | Work::Backward)) = left.front().copied() {
            left.pop_front();
            let state = &mut self.ranks[rank as usize];
            let longer = std::mem::take(&mut late[rank as usize]);
            state.compute(style, forward, longer);
            if work == Work::Backward {
                state.compute(style, forward, 0);
            }
        }
    }

    /// Two ranks exchange messages, each by one kernel.
    fn exchange(&mut self, group: usize, ends: [u32; 2], ways: &[[u32; 2]], payload: Payload) {
        // Each message is asked for by a call of its own, and one more starts the kernel.
        let begun = ends.map(|rank| {
            let asked = ways.iter().map(|_| self.ranks[rank as usize].call());
            let asked: Vec<Span> = asked.collect();
            (asked, self.begin(rank, group))
        });
        let transfer = self.transfer(payload);
        let last = begun[0].1.event.max(begun[1].1.event);
        let ended = [0, 1].map(|place: usize| {
            let only_sends = ways.iter().all(|it| it[0] == ends[place]);
            let state = &mut self.ranks[ends[place] as usize];
            let since = if only_sends && payload.elements <= EAGER {
                begun[place].1.event
            } else {
                last
            };
            let end = since + transfer + LATENCY.draw(&mut state.random);
            state.device = end;
            state.threads[group][begun[place].1.thread] = end;
            end
        });
        let firsts = ends.map(|rank| self.ranks[rank as usize].log.calls.len());
        for (number, way) in ways.iter().enumerate() {
            let mut instance = Instance::new(group, What::Message, payload);
            let [sender, receiver] = *way;
            for (rank, role) in [
                (sender, Role::Sender { to: receiver }),
                (receiver, Role::Receiver { from: sender }),
            ] {
                let place = usize::from(rank != ends[0]);
                let (asked, begun) = &begun[place];
                let Begun {
                    call: launch,
                    event,
                    thread,
                } = begun;
                let instances = self.instances.len();
                let state = &mut self.ranks[rank as usize];
                state.messages[group] += 1;
                let sequence = state.messages[group];
                let call = Call {
                    instance: instances,
                    role,
                    host: asked[number],
                    event: Span {
                        begin: *event,
                        end: ended[place],
                    },
                    thread: *thread,
                    batch: Some(Batch {
                        first: firsts[place],
                        last: firsts[place] + ways.len() - 1,
                        launch: *launch,
                    }),
                    sequence,
                };
                instance.join(rank, state, call);
            }
            self.instances.push(instance);
        }
    }
}
