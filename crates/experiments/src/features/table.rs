//! The comparison as a table, ours beside the printed one.

use super::cell::Cell;
use super::printed::PRINTED;
use super::requirement::REQUIREMENTS;
use crate::accuracy::{Method, methods};
use crate::grid::{Grid, Watch, proceed};
use crate::simulated::Failure;

/// Every method against every requirement.
pub fn table(watch: Watch<'_>) -> Result<Grid, Failure> {
    let mut columns: Vec<Vec<Cell>> = Vec::new();
    for (name, requirement) in REQUIREMENTS {
        proceed(watch, name)?;
        let traces = requirement.traces()?;
        let mut column = Vec::new();
        for method in shown() {
            proceed(watch, &format!("{name}: {}", method.name))?;
            column.push(requirement.decide(&method, &traces));
        }
        columns.push(column);
    }
    let mut heading = vec![String::new()];
    heading.extend(REQUIREMENTS.iter().map(|(name, _)| (*name).to_owned()));
    Ok(Grid {
        title: "what methods can do, decided by runs on simulated traces".into(),
        heading,
        rows: rows(&columns),
        notes: NOTES.iter().map(|&note| note.into()).collect(),
    })
}

/// Estimators by themselves: what the controlled clock makes of them, its own
/// row says.
fn shown() -> impl Iterator<Item = Method> {
    let all = methods().into_iter();
    all.filter(|method| !method.is_repaired())
}

fn rows(columns: &[Vec<Cell>]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (number, method) in shown().enumerate() {
        let mut row = vec![method.name.clone()];
        row.extend(columns.iter().map(|column| column[number].text.clone()));
        rows.push(row);
        for printed in PRINTED.iter().filter(|it| it.method == method.name) {
            let mut row = vec!["  as printed".to_owned()];
            row.extend(printed.cells.iter().map(|&cell| cell.to_owned()));
            rows.push(row);
        }
    }
    rows
}

const NOTES: &[&str] = &[
    "off, rate, var, jumps, ticks: + if no effect is stamped before its cause in any of six \
     runs, of a halo exchange and of random traffic, on 2 or on 6 (n) clocks, and under n rate in \
     any of three more with few messages; else the largest \
     share of dependencies that still are; none if some run has no solution. Clocks are up to \
     200 us off, and with rate up to 50 ppm fast or slow; var swing by up to 40 us and walk within \
     50 ppm; jumps are set twice by up to 200 us; ticks are 10 us.",
    "near: + if the mean error is at most a quarter of that of the recorded times (n rate); else \
     the largest share. local: + if local intervals are wrong by at most 0.1 % of the run time.",
    "1 pass: what cutting off the end of a run of 4 s changes before the cut reaches back so far; \
     - if that is more than a quarter. online: the longest that the filter holds back an event \
     that comes as it happens, on clocks up to 5 ms apart with ramps of 5 %; - if the filter does \
     not have the method, or does not get all in order.",
    "as printed: Duda, Jézéquel, Hofmann & Hilgers, its form of section 7.7 and the controlled \
     clock in table 7.1 of the thesis. Its remarks: 2) only with the middle of the hulls, which \
     does not extend to more clocks; 3) if clocks drift so little that all communicate in each \
     sub-interval; 4) the regression may leave what the sub-intervals allow; 5) missing \
     messages are interpolated; 6) with one sub-interval in memory; 7) for two topologies only.",
];
