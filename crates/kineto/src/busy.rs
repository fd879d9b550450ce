//! When devices compute: kernels that do not communicate.
//!
//! A collective on a stream of its own waits beside the kernels of other streams, which is how
//! programs hide communication (buckets of gradients, parameters fetched ahead). Its device
//! stands still only where none of them goes on:
//!
//! ```text
//! stream 7    |=== gemm ===|=== gemm ===|           |=== gemm
//! stream 20          |------- all-reduce ----------|
//!                    |  hidden          | exposed  |
//! ```
//!
//! Copies and sets of memory are no computing, as in Holistic Trace Analysis. Of what is no kernel,
//! such as operations of compiled programs of JAX or gloo's on threads, nothing is known.

use rustc_hash::FxHashMap;

use crate::apart::{Device, device_of};
use crate::columns::Columns;
use crate::order::Order;
use crate::profile::FileRead;

/// From when to when each device of a file computed.
pub(crate) struct Busy {
    /// The device of each track, if that computes.
    of_track: Vec<Option<u32>>,
    /// Stretches of each device, which do not touch, rising.
    devices: Vec<Vec<(u64, u64)>>,
}

impl Busy {
    /// Finds it for the devices that have any of these tracks.
    pub(crate) fn of(file: &FileRead, order: &Order, wanted: impl Iterator<Item = u32>) -> Self {
        let mut numbers: FxHashMap<Device<'_>, u32> = FxHashMap::default();
        if !file.computing.is_empty() {
            for track in wanted.filter_map(|it| file.tracks.get(it as usize)) {
                let next = numbers.len() as u32;
                if track.is_device {
                    numbers.entry(device_of(track)).or_insert(next);
                }
            }
        }
        let number = |it| numbers.get(&device_of(it)).copied();
        let of_track: Vec<Option<u32>> = if numbers.is_empty() {
            Vec::new()
        } else {
            file.tracks.iter().map(number).collect()
        };
        let mut devices = vec![Vec::new(); numbers.len()];
        for (track, device) in of_track.iter().enumerate() {
            if let Some(own) = device.and_then(|it| devices.get_mut(it as usize)) {
                let entries = order.of_track(track).iter();
                let kernels = entries.filter(|it| file.computing.has(**it));
                own.extend(kernels.map(|&it| span(&file.columns, it)));
            }
        }
        devices.iter_mut().for_each(unite);
        Self { of_track, devices }
    }

    /// True if it is known when the device of a track computed.
    pub(crate) fn is_known(&self, track: u32) -> bool {
        self.of_track
            .get(track as usize)
            .is_some_and(Option::is_some)
    }

    /// From when to when the device of a track computed within a span.
    pub(crate) fn within(
        &self,
        track: u32,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (u64, u64)> + '_ {
        let device = self.of_track.get(track as usize).copied().flatten();
        let all = device.and_then(|it| self.devices.get(it as usize));
        let all = all.map(Vec::as_slice).unwrap_or_default();
        let first = all.partition_point(|it| it.1 <= from);
        let rest = all.get(first..).unwrap_or_default();
        let own = rest.iter().take_while(move |it| it.0 < to);
        own.map(move |it| (it.0.max(from), it.1.min(to)))
    }
}

fn span(columns: &Columns, event: u32) -> (u64, u64) {
    (columns.begin(event), columns.end(event))
}

/// Puts stretches in order, and those together that touch.
fn unite(spans: &mut Vec<(u64, u64)>) {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;
    use crate::computing::Computing;
    use crate::profile::Track;

    fn track(pid: &str, tid: &str, is_device: bool) -> Track {
        Track {
            pid: pid.into(),
            tid: tid.into(),
            is_device,
            ..Track::default()
        }
    }

    #[test]
    fn streams_of_a_device_compute_together() {
        let mut file = FileRead {
            tracks: vec![
                track("0", "7", true),
                track("0", "8", true),
                track("0", "20", true),
                track("1", "7", true),
                track("5000", "5000", false),
            ],
            ..FileRead::default()
        };
        let columns = Columns {
            //           7: 10..20 20..30 50..60, 8: 15..40, 20: 12..90, device 1: 0..99, host: 0..99
            begins: vec![10, 20, 50, 15, 12, 0, 0],
            lengths: vec![10, 10, 10, 25, 78, 99, 99],
            tracks: vec![0, 0, 0, 1, 2, 3, 4],
            digits: vec![],
        };
        let order = Order::of(&columns, file.tracks.len());
        file.columns = columns.into();
        let mut computing = Computing::default();
        for event in [0, 1, 2, 3, 5] {
            computing.take(event);
        }
        file.computing = computing;
        let busy = Busy::of(&file, &order, [2].into_iter());
        let within = |from, to| busy.within(2, from, to).collect::<Vec<_>>();
        assert_eq!(within(12, 90), [(12, 40), (50, 60)]);
        assert_eq!(within(39, 51), [(39, 40), (50, 51)]);
        assert_eq!(within(40, 50), []);
        let known: Vec<bool> = (0..5).map(|it| busy.is_known(it)).collect();
        assert_eq!(known, [true, true, true, false, false]);
        // Where nothing computes, nothing is known.
        file.computing = Computing::default();
        assert!(!Busy::of(&file, &order, [2].into_iter()).is_known(2));
    }
}
