//! The sketch of a trace on a terminal: how long messages took, and what was added to each clock.

use std::fmt::Write;
use std::io::{IsTerminal, stdout};

use retime::pipeline::{Analysis, Solution};
use retime::{TickRate, Ticks, format_seconds, group_digits};
use retime_picture::{Curve, Decades, curves};

use super::subject::subject;
use crate::analysed::Analysed;
use crate::args::RunArgs;

/// Characters of the longest bar.
const BAR: u64 = 24;
/// Characters of a curve.
const CURVE: usize = 40;
/// Clocks whose curve is shown.
const CLOCKS: usize = 16;

/// The sketch that `--verbose` shows to people; empty where nobody looks.
pub(crate) fn of(analysed: &Analysed, solution: Option<&Solution>, run: &RunArgs) -> String {
    let analysis = &analysed.analysis;
    let is_whole = analysis.causality().whole().is_here();
    if !run.verbose || run.quiet || !stdout().is_terminal() || !is_whole {
        return String::new();
    }
    let mut text = latencies(analysis, solution);
    if solution.is_some() {
        let shown = curves(&subject(analysed, solution, None));
        clocks(&mut text, &shown, analysis.info().rate);
    }
    text
}

fn latencies(analysis: &Analysis, solution: Option<&Solution>) -> String {
    let times = solution.map(|it| &*it.times);
    let rate = analysis.info().rate;
    histogram(
        &Decades::of(analysis.causality(), rate, times),
        times.is_some(),
    )
}

/// How many messages have which latency, as bars.
pub(crate) fn histogram(decades: &Decades, is_corrected: bool) -> String {
    let mut text = String::new();
    if decades.classes.is_empty() {
        return text;
    }
    let counts = decades.classes.iter().flat_map(|it| [it.1, it.2]);
    let most = counts.max().unwrap_or(1).max(1);
    let bar = |count: u64| {
        let length = u128::from(count) * u128::from(BAR);
        "█".repeat(length.div_ceil(u128::from(most)) as usize)
    };
    let (bold, red, green) = (
        anstyle::Style::new().bold(),
        anstyle::AnsiColor::Red.on_default(),
        anstyle::AnsiColor::Green.on_default(),
    );
    let corrected = if is_corrected { "corrected" } else { "" };
    let heading = format!("{:<21}{:<36}{corrected}", "latency", "messages, recorded");
    let _ = writeln!(text, "\n{bold}{}{bold:#}", heading.trim_end());
    let mut in_gap = false;
    for &(decade, recorded, corrected) in &decades.classes {
        if recorded == 0 && corrected == 0 {
            // One line for all empty classes in a row.
            if !in_gap {
                let _ = writeln!(text, "{:>18}", "...");
            }
            in_gap = true;
            continue;
        }
        in_gap = false;
        let (from, to) = decade.ends();
        let colour = if decade.0 < 0 { red } else { green };
        let ends = match decade.0 {
            0 => format!("{:>18}", "0"),
            _ => format!("{:>7} .. {:>7}", format_seconds(from), format_seconds(to)),
        };
        let row = |count: u64| {
            let (bar, count) = (bar(count), group_digits(count));
            format!("  {colour}{bar:<24}{colour:#} {count:>9}")
        };
        let second = if is_corrected {
            row(corrected)
        } else {
            String::new()
        };
        let _ = writeln!(text, "{ends}{}{second}", row(recorded));
    }
    text
}

/// Draws what was added to each of the first clocks, as a line of blocks.
fn clocks(text: &mut String, shown: &[Curve], rate: TickRate) {
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(
        text,
        "\n{bold}added to the clocks, from their first to their last event{bold:#}"
    );
    for curve in shown.iter().take(CLOCKS) {
        let added = curve.points.iter().map(|it| it.1);
        let (Some(least), Some(most)) = (added.clone().min(), added.max()) else {
            continue;
        };
        let line = sparkline(curve, least, most);
        let span = |ticks: i64| rate.format(Ticks(ticks));
        let (clock, least, most) = (curve.clock, span(least), span(most));
        let _ = writeln!(text, "clock {clock:>5}  {line}  {least} .. {most}");
    }
    if let Some(more) = shown.len().checked_sub(CLOCKS + 1) {
        let _ = writeln!(text, "and {} more", group_digits(more as u64 + 1));
    }
}

/// A curve between its least and its largest value; flat ones are a line.
fn sparkline(curve: &Curve, least: i64, most: i64) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
        return String::new();
    };
    let height = (most - least) as f64;
    let block = |column: usize| {
        let share = (column as f64 + 0.5) / CURVE as f64;
        let time = first.0 as f64 + share * (last.0 - first.0) as f64;
        let level = if height > 0.0 {
            (curve.at(time) - least as f64) / height
        } else {
            0.0
        };
        BLOCKS[((level * 8.0) as usize).min(7)]
    };
    (0..CURVE).map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_picture::{CurvePoint, Decade};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_histogram_has_a_bar_for_each_class() {
        let decades = Decades {
            classes: vec![
                (Decade(-6), 3, 0),
                (Decade(-5), 0, 0),
                (Decade(-4), 0, 0),
                (Decade(7), 1, 6),
            ],
        };
        let expected = "
latency              messages, recorded                  corrected
  -1 ms .. -100 us  ████████████                     3                                  0
               ...
   1 ms ..   10 ms  ████                             1  ████████████████████████         6
";
        let lines = |text: &str| -> Vec<String> {
            let words = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().map(words).collect()
        };
        assert_eq!(lines(&plain(&histogram(&decades, true))), lines(expected));
        assert_eq!(histogram(&Decades::default(), false), "");
    }

    #[test]
    fn a_curve_rises_where_it_does() {
        let points = [(0, -100), (10, 0), (20, 0)].map(|(at, added)| CurvePoint(at, added));
        let curve = Curve {
            clock: 3,
            name: String::new(),
            points: points.into(),
            band: Vec::new(),
            steps: Vec::new(),
        };
        let line: Vec<char> = sparkline(&curve, -100, 0).chars().collect();
        assert_eq!((line.len(), line[0], line[CURVE - 1]), (CURVE, '▁', '█'));
        assert!(line.is_sorted());
    }
}
