//! Models whose parameters are shared out among ranks.
//!
//! Each layer gathers its parameters before it computes, and what its rank has of them is all it keeps.
//! Gathering goes on one layer ahead of computing; sums of gradients are scattered beside both:
//!
//! ```text
//! gather    g0 g1    g2             g1       g0
//! compute      f0 f1 f2    b2       b1       b0
//! scatter                     s2       s1       s0
//! ```
//!
//! Operations of one communicator follow each other on whatever stream they are.
//!
//! Source: `_fsdp_param_group.py` of PyTorch's `_fully_shard`; pytorch 177102 on streams.

use super::{
    happened::Payload,
    job::{Among, Class, Style},
    simulation::{Begun, GoesOn, LAUNCH, Simulation},
};
use retime_sim::Duration;

impl Simulation<'_> {
    /// Takes all layers forward and backward.
    pub(super) fn sharded(
        &mut self,
        layers: u32,
        forward: Duration,
        payload: Payload,
        own_streams: bool,
        late: &mut [u64],
    ) {
        if self.run.style == Style::Gloo {
            return;
        }
        for _ in 0..layers {
            let gathered = self.gather(payload);
            self.layer(forward, 1, &gathered, late);
        }
        let mut gathered = self.gather(payload);
        for layer in (0..layers).rev() {
            let next = (layer > 0).then(|| self.gather(payload));
            self.layer(forward, 2, &gathered, late);
            self.scatter(payload, usize::from(own_streams));
            gathered = next.unwrap_or_default();
        }
    }

    /// Gathers the parameters of a layer; says when each rank has them.
    fn gather(&mut self, payload: Payload) -> Vec<(u32, u64)> {
        let groups = self.groups.among(Among::Data);
        let gathered = groups.flat_map(|group| {
            let begun = self.begin_all(group, 0, |_, _| 0);
            self.end(group, Class::AllGather, payload, begun, GoesOn::Meanwhile)
        });
        gathered.collect()
    }

    /// Scatters the sums of the gradients of a layer that has computed.
    fn scatter(&mut self, payload: Payload, stream: usize) {
        for group in self.groups.among(Among::Data) {
            let begun = self.begin_all(group, stream, |simulation, rank| {
                simulation.ranks[rank as usize].device
            });
            self.end(
                group,
                Class::ReduceScatter,
                payload,
                begun,
                GoesOn::Meanwhile,
            );
        }
    }

    /// All members of a group call an operation, which begins on a stream as soon as the device of each
    /// has come so far, and the operation before it has ended.
    fn begin_all(
        &mut self,
        group: usize,
        stream: usize,
        comes_so_far: impl Fn(&Self, u32) -> u64,
    ) -> Vec<Begun> {
        let members = &self.groups.get(group).ranks;
        let begun = members.iter().map(|&rank| {
            let after = comes_so_far(self, rank);
            let state = &mut self.ranks[rank as usize];
            let call = state.call();
            let before = state.threads[group].into_iter().max().unwrap_or(0);
            Begun {
                call,
                event: after
                    .max(before)
                    .max(call.end + LAUNCH.draw(&mut state.random)),
                thread: stream,
            }
        });
        begun.collect()
    }

    /// All compute a layer so many times, once they have its parameters.
    fn layer(&mut self, takes: Duration, times: u32, gathered: &[(u32, u64)], late: &mut [u64]) {
        for &(rank, at) in gathered {
            let state = &mut self.ranks[rank as usize];
            state.device = state.device.max(at);
            for _ in 0..times {
                let longer = std::mem::take(&mut late[rank as usize]);
                state.compute(self.run.style, takes, longer);
            }
        }
    }
}
