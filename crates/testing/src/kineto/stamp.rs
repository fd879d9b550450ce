//! The times that are written down.

use super::job::{Bases, KinetoRun};
use retime_sim::Random;

/// True time at the start of a run, in nanoseconds since 1970. A job of some day;
/// what matters is that microseconds with three decimals do not fit 53 bits.
pub(super) const EPOCH: i64 = 1_795_171_426_000_000_000;
/// Times are relative to a multiple of a quarter of a year, of so many seconds.
const QUARTER: i64 = 7_889_238;
const SECOND: i64 = 1_000_000_000;
const BILLION: i128 = 1_000_000_000;
/// A stream of random numbers that no rank has.
const CLOCKS: u64 = 1 << 40;

/// Another one.
const DEVICES: u64 = 1 << 41;

/// The clock of a host, or of a device: affine in true time but where it is set.
#[derive(Debug, Clone)]
pub(super) struct HostClock {
    /// Nanoseconds ahead at the start of the run.
    pub(super) offset: i64,
    /// Parts per billion that it is fast.
    pub(super) drift: i64,
    /// The times at which it is set, and the nanoseconds that it shows more from then on.
    pub(super) set: Vec<(u64, i64)>,
}

impl HostClock {
    /// The clocks of all hosts.
    pub(super) fn draw(run: &KinetoRun) -> Vec<Self> {
        let mut random = Random::new(run.seed, CLOCKS);
        let set = |host: u32| {
            let own = run.set_clocks.iter().filter(move |it| it.host == host);
            own.map(|it| (it.at, it.by)).collect()
        };
        (0..run.ranks.div_ceil(run.ranks_per_host))
            .map(|host| Self {
                offset: random.within(run.offset as f64).round() as i64,
                drift: random.within(run.drift as f64).round() as i64,
                set: set(host),
            })
            .collect()
    }

    /// The clock of the device of each rank, if those of hosts are these.
    pub(super) fn draw_devices(run: &KinetoRun, hosts: &[Self]) -> Vec<Self> {
        let mut random = Random::new(run.seed, DEVICES);
        (0..run.ranks)
            .map(|rank| {
                let host = hosts[run.host(rank) as usize].clone();
                Self {
                    set: host.set,
                    offset: host.offset + random.within(run.devices.offset as f64).round() as i64,
                    drift: host.drift + random.within(run.devices.drift as f64).round() as i64,
                }
            })
            .collect()
    }

    /// The time that the clock shows at a true time since the start, in nanoseconds since 1970.
    pub(super) fn show(&self, time: u64) -> i64 {
        let gained = i128::from(time) * i128::from(self.drift);
        let set = self.set.iter().filter(|it| it.0 <= time);
        let set: i64 = set.map(|it| it.1).sum();
        EPOCH + self.offset + time as i64 + gained.div_euclid(BILLION) as i64 + set
    }
}

/// How a rank writes down its times.
#[derive(Debug, Clone)]
pub(super) struct Stamps {
    pub(super) clock: HostClock,
    /// The base that times are relative to, in nanoseconds; `None` if files do not say one.
    pub(super) base: Option<i64>,
}

impl Stamps {
    pub(super) fn new(run: &KinetoRun, clock: HostClock, rank: u32) -> Self {
        let quarters = EPOCH / SECOND / QUARTER;
        let base = match run.bases {
            Bases::Same => Some(quarters),
            Bases::Differing => Some(quarters - i64::from(rank % 3)),
            Bases::Absent => None,
        };
        Self {
            clock,
            base: base.map(|quarters| quarters * QUARTER * SECOND),
        }
    }

    /// Nanoseconds as written: since the base.
    pub(super) fn relative(&self, time: u64) -> i64 {
        self.clock.show(time) - self.base.unwrap_or(0)
    }
}

/// Nanoseconds as microseconds with three decimals.
pub(super) fn microseconds(nanoseconds: i64) -> String {
    format!("{}.{:03}", nanoseconds / 1_000, nanoseconds % 1_000)
}
