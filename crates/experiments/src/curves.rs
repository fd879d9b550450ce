//! The curves of figure 5.10: how controller B settles, or oscillates.
//!
//! The figure draws the lead of the common logical clock over clock 0, by how far clock 1 is
//! behind, in example 3: `1 - gamma_max = 2e-5`, `rho = 1e-4`. In these units the lead is `u o_j` at
//! the exchange `j`, with `o_j` the [recurrence](crate::recurrence), and
//!
//! ```text
//! R - 1 = rho - (1 - gamma_max) (1 + rho) = 8e-5     u = sqrt((R - 1) / R) = 0.00894
//! time from one exchange to the next, by D:  f / sqrt(R (R - 1)) = 111.8 f
//! ```
//!
//! In scenario 3 messages go one way only after the first, so that clock 1 may fall below clock 0:
//! gamma then sees no lead. In units of `u`
//!
//! ```text
//! o_(j+1) = o_j + f (1 - max(o_j, 0)^2)
//! ```
//!
//! (Its other limit, the clock itself, is 111 units below.)
//!
//! ```
//! use retime_experiments::curves::{one_way, unit};
//! assert!((unit() - 8.944e-3).abs() < 1e-6);
//! // Up to 2, down to 2 + 2 (1 - 4) = -4, from where the clock alone rises by 2 each time.
//! let leads: Vec<f64> = one_way(2.0).take(5).collect();
//! assert_eq!(leads, [0.0, 2.0, -4.0, -2.0, 0.0]);
//! ```
//!
//! Source: Rabenseifner 2000, section 5.3, figure 5.10 with scenarios 2 and 3 and example 3.

use retime_methods::a_priori::oscillation::Exchange;

use crate::recurrence::sequence;
use crate::simulated::Failure;
use crate::table::{Row, Table};

/// The values of f that the figure draws for scenario 2.
pub const BOTH_WAYS: [f64; 13] = [
    0.1, 0.4, 0.57, 0.618, 0.81, 1.0, 1.17, 1.25, 1.272, 1.275, 1.37, 1.5, 2.0,
];
/// The values of f that the figure draws for scenario 3.
pub const ONE_WAY: [f64; 4] = [1.275, 1.37, 1.5, 2.0];
/// Where the figure ends, in `t / D`.
const END: f64 = 900.0;

/// The clocks of example 3; what matters here does not depend on the interval.
const EXAMPLE: Exchange = Exchange {
    gamma_max: 1.0 - 2e-5,
    rho: 1e-4,
    relative_interval: 1.0,
};

/// The lead on which curves settle, by how far clock 1 is behind.
pub fn unit() -> f64 {
    EXAMPLE.settled()
}

/// The time between exchanges, by how far clock 1 is behind.
pub fn interval(f: f64) -> f64 {
    f / EXAMPLE.f()
}

/// The leads of clock 1 in scenario 3, in units of [`unit()`].
pub fn one_way(f: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(0.0_f64), move |&o| {
        let seen = o.max(0.0);
        Some(o + f * (1.0 - seen * seen))
    })
}

/// The points of a curve within the figure, in units of [`unit()`].
pub fn curve(f: f64, both_ways: bool) -> Vec<f64> {
    let points = (END / interval(f)) as usize + 1;
    if both_ways {
        sequence(f).take(points).collect()
    } else {
        one_way(f).take(points).collect()
    }
}

/// How much steeper than at its begin a curve rises, and falls, at most.
pub fn steepest(f: f64, curve: &[f64]) -> (f64, f64) {
    let slopes = curve.windows(2).map(|pair| (pair[1] - pair[0]) / f);
    slopes.fold((0.0, 0.0), |(rise, fall), slope| {
        (slope.max(rise), (-slope).max(fall))
    })
}

/// The figures beside what the thesis draws and says.
pub fn table() -> Result<Table, Failure> {
    let all = [(true, BOTH_WAYS.as_slice()), (false, ONE_WAY.as_slice())];
    let all = all
        .into_iter()
        .flat_map(|(both, values)| values.iter().map(move |&f| (both, f, curve(f, both))));
    let all: Vec<(bool, f64, Vec<f64>)> = all.collect();
    let mut rows: Vec<Row> = all
        .iter()
        .map(|(both, f, curve)| curve_row(*both, *f, curve))
        .collect();
    let points = || all.iter().flat_map(|it| it.2.iter().map(|o| o * unit()));
    let [low, high] = [points().fold(0.0, f64::min), points().fold(0.0, f64::max)];
    rows.push(Row::new(
        "all: from the lowest point to the highest",
        "-0.04 to 0.02 (axis)",
        format!("{low:.4} to {high:.4}"),
        "",
    ));
    let of = |wanted: &dyn Fn(bool, f64) -> bool| {
        let some = all.iter().filter(|it| wanted(it.0, it.1));
        some.fold((0.0_f64, 0.0_f64), |(rise, fall), it| {
            let own = steepest(it.1, &it.2);
            (own.0.max(rise), own.1.max(fall))
        })
    };
    let most = of(&|_, _| true);
    let usual = of(&|both, f| both || f < 2.0);
    rows.push(Row::new(
        "all: steepest rise, by the first",
        "never steeper",
        format!("{:.2}", most.0),
        "",
    ));
    rows.push(Row::new(
        "all but f = 2 in scenario 3: steepest fall",
        "only slightly steeper",
        format!("{:.2}", usual.1),
        "",
    ));
    rows.push(Row::new(
        "f = 2 in scenario 3: steepest fall",
        "the exception",
        format!("{:.2}", most.1),
        "",
    ));
    Ok(Table {
        title: "(LC' - C0) / D at each exchange, in thousandths; gamma_max = 1 - 2e-5, rho = 1e-4"
            .into(),
        source: "Rabenseifner 2000, figure 5.10",
        rows,
        notes: vec![
            "The figure's legend calls the curves those of scenarios 1 and 2; by its text, and by \
             their values, they are those of 2 and 3. Its axis of time goes to t/D = 900."
                .into(),
        ],
    })
}

/// The first points of a curve.
fn curve_row(both_ways: bool, f: f64, curve: &[f64]) -> Row {
    const SHOWN: usize = 8;
    let points = curve.iter().skip(1).take(SHOWN);
    let points: Vec<String> = points.map(|o| format!("{:.1}", 1e3 * o * unit())).collect();
    let scenario = if both_ways { 2 } else { 3 };
    Row::new(
        format!(
            "scenario {scenario}, f = {f}: each {:.0} of t/D",
            interval(f)
        ),
        "drawn",
        points.join(" "),
        "",
    )
}
