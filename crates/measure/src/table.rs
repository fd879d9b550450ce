//! What was measured, as a table for people.

use retime_model::{TickRate, Ticks};

use crate::drift::Drift;
use crate::measured::Measured;

/// A rank, where it runs, and all that was measured of it, in order.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of its machine.
    pub host: String,
    /// Each measurement; none where a clock was set back meanwhile.
    pub measured: Vec<Option<Measured>>,
}

/// A line for each rank: its offset at the end, how far the clock drifted between the first
/// measurement and the last.
pub fn table(rows: &[Row], rate: TickRate) -> String {
    let title = [
        "rank",
        "host",
        "offset",
        "bound",
        "round trip",
        "median",
        "drift",
    ];
    let title = title.map(str::to_owned).to_vec();
    let cells = rows.iter().enumerate();
    let cells = cells.map(|(rank, row)| line(rank, row, rate));
    let lines: Vec<Vec<String>> = std::iter::once(title).chain(cells).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|it| it.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths);
        let padded: Vec<String> = cells
            .map(|(cell, &width)| format!("{cell:width$}"))
            .collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn line(rank: usize, row: &Row, rate: TickRate) -> Vec<String> {
    let mut cells = vec![rank.to_string(), row.host.clone()];
    let Some(Some(last)) = row.measured.last() else {
        cells.push("unknown: a clock was set back".to_owned());
        return cells;
    };
    let span = |ticks: Ticks| rate.format(ticks);
    cells.push(span(last.offset));
    cells.push(format!("±{}", span(last.bound)));
    cells.push(span(last.fastest));
    cells.push(span(last.median));
    let first = row.measured.first().copied().flatten();
    let drift = first.and_then(|first| Drift::between(&first, last));
    cells.push(drift.map_or_else(|| "-".to_owned(), |it| it.to_string()));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_model::Timestamp;

    #[test]
    fn columns_stand_below_each_other() {
        let measured = |at, offset| {
            Some(Measured {
                offset: Ticks(offset),
                bound: Ticks(40),
                fastest: Ticks(78),
                median: Ticks(90),
                ..Measured::reference(Timestamp(at))
            })
        };
        let row = |host: &str, measured| Row {
            host: host.to_owned(),
            measured,
        };
        let rows = [
            row("a", vec![measured(1_000, 1_500)]),
            row("long", vec![measured(0, -20), measured(1_000_000_000, -20)]),
            row("b", vec![None]),
        ];
        let text = table(&rows, TickRate::NANOSECONDS);
        assert_eq!(
            text,
            "rank  host  offset                         bound   round trip  median  drift\n\
             0     a     1.5 us                         ±40 ns  78 ns       90 ns   -\n\
             1     long  -20 ns                         ±40 ns  78 ns       90 ns   +0.00 ±0.08 ppm\n\
             2     b     unknown: a clock was set back\n"
        );
    }
}
