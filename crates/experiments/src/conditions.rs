//! The simulation of 1997 under other conditions.
//!
//! The paper shows one experiment (a clock of twenty, ahead by 1000 us: [`finite_elements`](crate::finite_elements)) and
//! says of six others how they came out: the length of the run has no influence, the error of
//! the clock has much, its shape in time has little; the controller is stable; clocks that tick
//! every 1 ms are served no better and no worse than by the simple clock; and the error has to be
//! below about four times the least delay, if local intervals are to be right to 5 %.
//!
//! # The fourfold limit
//!
//! The paper leaves the reason to others. It is in the controller. A clock `h` messages away from
//! the one that is ahead by `Delta` leads by about `Delta - h s`, where `s` is what messages take
//! beyond `mu`. The simple clock leads there by much less, so that of the two remembered leads
//! `D` stays at its least value `q_min` while `D'` is the lead. Gamma falls as soon as
//!
//! ```text
//! D' > l_upper D,   that is   Delta - h s > l_upper q_min
//! ```
//!
//! and each step below `gamma_max` is local time that is lost, and jumped over again by the next
//! message. So the limit of `Delta` lies where more than the nearest clocks lead by that much:
//!
//! ```text
//! Delta ~ l_upper q_min + 2 s
//! ```
//!
//! With the recommended `2 * 250 us` and delays of 250 to 1000 us, `s` = 375 us, that is 1250 us:
//! five times the least delay. The rows `A below 5 %` show that the least delay itself has no part
//! in it, that the limit rises by twice what `q_min` does, that it rises with how much delays vary,
//! and where it lies without control, when an interval loses `1 - gamma_max`, 5 %, at most.
//!
//! Source: Rabenseifner 1997, section 6.5 and, for the open question, section 9.

use retime::clock::DegressiveConstants;
use retime_sim::{Clock, Wander};

use crate::finite_elements::{
    ERROR, Figures, SETTINGS, STEPS, Setting, Trial, WRONG, percent, ratio,
};
use crate::simulated::Failure;
use crate::table::{Row, Table};

/// The time that passes in a run of [`STEPS`], about, in nanoseconds.
const RUN: f64 = 0.7e9;

/// The experiment that the paper shows.
fn shown() -> Trial {
    Trial::one_wrong(SETTINGS[0], ERROR)
}

/// With another length.
pub fn lasting(steps: u64) -> Trial {
    Trial { steps, ..shown() }
}

/// With another error of the clock, in microseconds.
pub fn ahead_by(error: i64) -> Trial {
    Trial::one_wrong(SETTINGS[0], 1_000 * error)
}

/// The error of a clock over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Profile {
    /// It is always the same.
    Constant,
    /// It rises from nothing to its height.
    Ramp,
    /// It swings with this period, in nanoseconds.
    Swing(f64),
}

impl Profile {
    /// A clock with an error of that shape, 1000 us high, at a phase of its own.
    fn clock(self, phase: f64) -> Clock {
        let height = ERROR as f64;
        match self {
            Self::Constant => Clock {
                offset: ERROR,
                ..Clock::TRUE
            },
            Self::Ramp => Clock {
                drift: height / RUN,
                ..Clock::TRUE
            },
            Self::Swing(period) => Clock {
                wander: Some(Wander {
                    amplitude: height,
                    period,
                    phase,
                }),
                ..Clock::TRUE
            },
        }
    }

    /// Process 8 has such a clock.
    pub fn of_one(self) -> Trial {
        let mut trial = Trial::one_wrong(SETTINGS[0], 0);
        if let Some(clock) = trial.clocks.get_mut(WRONG) {
            *clock = self.clock(0.0);
        }
        trial
    }

    /// All have, each at another phase.
    pub fn of_all(self) -> Trial {
        let mut trial = Trial::one_wrong(SETTINGS[0], 0);
        // Multiples of the golden ratio are spread evenly.
        for (number, clock) in trial.clocks.iter_mut().enumerate() {
            *clock = self.clock((number as f64 * 0.618_034).fract());
        }
        trial
    }
}

/// All clocks tick every so many nanoseconds, and are right otherwise.
pub fn ticking(step: u64) -> Trial {
    let mut trial = Trial::one_wrong(SETTINGS[0], 0);
    for clock in &mut trial.clocks {
        clock.step = step;
    }
    trial
}

/// Constants of the controller other than the recommended ones, by what differs.
pub fn varied() -> Vec<(&'static str, DegressiveConstants)> {
    let usual = DegressiveConstants::default();
    let q = |q_min: f64| DegressiveConstants {
        q_init: q_min,
        q_min,
        ..usual
    };
    let limits = |l_upper: f64, l_lower: f64| DegressiveConstants {
        l_upper,
        l_lower,
        ..usual
    };
    vec![
        ("q_min = 125 us", q(125e-6)),
        ("q_min = 500 us", q(500e-6)),
        (
            "q_factor = 0.8",
            DegressiveConstants {
                q_factor: 0.8,
                ..usual
            },
        ),
        (
            "q_factor = 0.95",
            DegressiveConstants {
                q_factor: 0.95,
                ..usual
            },
        ),
        (
            "gamma_max = 0.9",
            DegressiveConstants {
                gamma_max: 0.9,
                ..usual
            },
        ),
        (
            "gamma_max = 0.99",
            DegressiveConstants {
                gamma_max: 0.99,
                ..usual
            },
        ),
        (
            "gamma_degress = 0.8",
            DegressiveConstants {
                gamma_degress: 0.8,
                ..usual
            },
        ),
        (
            "gamma_degress = 0.95",
            DegressiveConstants {
                gamma_degress: 0.95,
                ..usual
            },
        ),
        ("l_upper = 1.6, l_lower = 1.4", limits(1.6, 1.4)),
        ("l_upper = 2.5, l_lower = 2.2", limits(2.5, 2.2)),
    ]
}

/// The error of the clock is looked for in steps of so many microseconds, up to [`MOST`] of them.
const STEP: i64 = 250;
const MOST: i64 = 16;

/// The largest error of the clock, in microseconds, with which the mean A of the controlled clock
/// is below 5 %; `None` if that of `MOST` steps still is.
pub fn limit(setting: Setting, constants: DegressiveConstants) -> Result<Option<i64>, Failure> {
    // A rises with the error, so that halving finds where it gets above 5 %.
    let (mut below, mut above) = (0, MOST + 1);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        let trial = Trial {
            constants,
            ..Trial::one_wrong(setting, 1_000 * STEP * middle)
        };
        if trial.figures()?.controlled.deviation < 0.05 {
            below = middle;
        } else {
            above = middle;
        }
    }
    Ok((below < MOST).then_some(STEP * below))
}

/// A setting whose messages take from `least` to `most` microseconds.
pub fn delays(least: u64, most: u64) -> Setting {
    Setting {
        delay: (least, most),
        ..SETTINGS[0]
    }
}

/// A controller that never lowers gamma.
pub fn idle() -> DegressiveConstants {
    DegressiveConstants {
        l_upper: f64::INFINITY,
        ..DegressiveConstants::default()
    }
}

/// The figures beside what the paper says.
pub fn table() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for steps in [STEPS / 8, STEPS / 2, STEPS, 2 * STEPS] {
        let name = format!("duration, {steps} steps: A, and F controlled / simple");
        rows.push(Row::new(
            name,
            "independent of it",
            both(&lasting(steps).figures()?),
            "",
        ));
    }
    for error in [500, 1_000, 2_000, 4_000] {
        let name = format!("Delta = {error} us: A, and F controlled / simple");
        rows.push(Row::new(
            name,
            "strictly dependent",
            both(&ahead_by(error).figures()?),
            "",
        ));
    }
    rows.extend(limit_rows()?);
    rows.extend(profile_rows()?);
    for (name, constants) in varied() {
        let figures = Trial {
            constants,
            ..shown()
        }
        .figures()?;
        let exceeds = figures.controlled.ahead >= 2.0 * figures.simple.ahead;
        let difference = if exceeds {
            "F above its limit of 2"
        } else {
            ""
        };
        let name = format!("{name}: A, and F controlled / simple");
        rows.push(Row::new(name, "very stable", both(&figures), difference));
    }
    rows.extend(tick_rows()?);
    Ok(Table {
        title: "the simulation of 1997: duration, Delta, drift, controller, ticks".into(),
        source: "Rabenseifner 1997, section 6.5",
        rows,
        notes: notes(),
    })
}

/// A of the controlled clock, and how much further it is ahead than the simple one.
fn both(figures: &Figures) -> String {
    let ahead = ratio(figures.controlled.ahead, figures.simple.ahead);
    format!("{}, {ahead}", percent(figures.controlled.deviation))
}

fn limit_rows() -> Result<Vec<Row>, Failure> {
    let usual = DegressiveConstants::default();
    let q = |q_min: f64| DegressiveConstants {
        q_init: q_min,
        q_min,
        ..usual
    };
    let cases = [
        ("as recommended", delays(250, 1_000), usual, "about 1000 us"),
        ("mu and least delay 62 us", delays(62, 812), usual, "-"),
        ("mu and least delay 500 us", delays(500, 1_250), usual, "-"),
        ("q_min = 125 us", delays(250, 1_000), q(125e-6), "-"),
        ("q_min = 500 us", delays(250, 1_000), q(500e-6), "-"),
        ("gamma never lowered", delays(250, 1_000), idle(), "-"),
        ("delays of 250 to 300 us", delays(250, 300), usual, "-"),
        ("delays of 250 to 2000 us", delays(250, 2_000), usual, "-"),
    ];
    let row = |(name, setting, constants, printed)| {
        let found = limit(setting, constants)?;
        let ours = found.map_or(format!("above {} us", STEP * MOST), |it| format!("{it} us"));
        let name = format!("A below 5 % up to a Delta of, {name}");
        Ok(Row::new(name, printed, ours, ""))
    };
    cases.into_iter().map(row).collect()
}

fn profile_rows() -> Result<Vec<Row>, Failure> {
    let profiles = [
        ("constant", Profile::Constant),
        ("a ramp", Profile::Ramp),
        ("swings in 1 s", Profile::Swing(1e9)),
        ("swings in 100 ms", Profile::Swing(1e8)),
    ];
    let mut rows = Vec::new();
    for (name, profile) in profiles {
        let name = format!("one clock, {name}: A, and F controlled / simple");
        rows.push(Row::new(
            name,
            "independent of it",
            both(&profile.of_one().figures()?),
            "",
        ));
    }
    for (name, profile) in &profiles[2..] {
        let name = format!("all clocks, {name}: A, and F controlled / simple");
        let figures = profile.of_all().figures()?;
        rows.push(Row::new(
            name,
            "independent of it",
            both(&figures),
            "differ by up to 2 ms",
        ));
    }
    Ok(rows)
}

fn tick_rows() -> Result<[Row; 3], Failure> {
    let ticks = ticking(1_000_000).figures()?;
    let (simple, controlled) = (&ticks.simple, &ticks.controlled);
    let deviations = format!(
        "{} / {}",
        percent(controlled.deviation),
        percent(simple.deviation)
    );
    Ok([
        Row::new(
            "ticks of 1 ms: A, controlled / simple",
            "no better, no worse",
            deviations,
            "",
        ),
        Row::new(
            "ticks of 1 ms: S, controlled / simple",
            "no better, no worse",
            ratio(controlled.behind, simple.behind),
            "somewhat better",
        ),
        Row::new(
            "ticks of 1 ms: F, controlled / simple",
            "no better, no worse",
            format!(
                "{:.1} us / {:.1} us",
                controlled.ahead / 1e3,
                simple.ahead / 1e3
            ),
            "",
        ),
    ])
}

fn notes() -> Vec<String> {
    vec![
        "The paper says in words how these experiments came out, and prints no figures but the \
         limits: F of the controlled clock below twice that of the simple one, A below 5 %, Delta \
         up to four times the least delay of 250 us. Its drift profiles are pictures that the \
         copy at hand does not show; these are ours."
            .into(),
        "The limit of Delta is not one by the least delay, whatever that is. A clock leads by \
         Delta less what messages on their way to it took beyond mu; where it leads by more than \
         l_upper q_min, and the simple clock does not, gamma falls, and what intervals lose by it \
         comes back in jumps. So the limit is about l_upper q_min and twice the mean delay beyond \
         mu: 1250 us as recommended, 1000 and 1750 us with half and twice the q_min. For q_min the \
         paper recommends 250 us, its least delay. Where delays hardly vary the limit is below \
         four times that, where they vary much above. (Errors were tried in steps of 250 us.)"
            .into(),
        "Profiles matter little for one clock. Where all clocks swing, they are up to 2 ms \
         apart, twice the limit, and A is above 5 % as it is for a constant 2 ms."
            .into(),
    ]
}
