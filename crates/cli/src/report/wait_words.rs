//! Words for waits that reports have in common.

use retime::{ComparedWork, TickRate, Ticks};

use super::share::share;
use super::waits::{OutsideCallsPart, WorkPart};

/// Processes and groups that a report lists.
pub(super) const LISTED: usize = 100;
/// The number of processes, and of groups, that are shown with `--verbose`.
pub(super) const SHOWN: usize = 5;

/// The part of a report on work that was compared.
pub(super) fn work(of: ComparedWork) -> WorkPart {
    WorkPart {
        longer_ticks: of.longer,
        others_differ_ticks: of.differ,
        outside_calls: of.outside.map(|it| OutsideCallsPart {
            longer_ticks: it.longer,
            others_differ_ticks: it.differ,
        }),
        transfers_ticks: of.transfers,
    }
}

pub(super) fn span(ticks: u64, rate: TickRate) -> String {
    rate.format(Ticks(i64::try_from(ticks).unwrap_or(i64::MAX)))
}

pub(super) fn name(process: usize, name: &str) -> String {
    match name {
        "" => format!("process {process}"),
        name => name.to_owned(),
    }
}

/// Words for transfers that took most of what somebody waited less: then it is not its computing.
/// Nor is it links where its computing is known to have taken as much.
pub(super) fn transfers(whose: &str, work: &WorkPart, rate: TickRate) -> String {
    let computed = work.outside_calls.as_ref().map(|it| it.longer_ticks);
    let is_computing = computed.is_some_and(|it| it >= work.transfers_ticks);
    let is_most = 2 * u128::from(work.transfers_ticks) >= work.longer_ticks.into();
    if work.longer_ticks == 0 || !is_most || is_computing {
        return String::new();
    }
    let ticks = span(work.transfers_ticks, rate);
    format!(", and {whose} transfers took {ticks} longer: look at links first")
}

/// The share of the time of others that was waited; nothing where operations that wait side by side
/// make it more than there is.
pub(super) fn of_time(held: u64, all: u64) -> String {
    if held > all {
        return " (more than they lasted: of operations that wait side by side each counts)".into();
    }
    let share = share(held as f64 / all.max(1) as f64);
    format!(", {share} of their time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_all_time_is_said_to_be_waited() {
        assert_eq!(of_time(50, 200), ", 25.0 % of their time");
        assert_eq!(of_time(0, 0), ", 0 % of their time");
        let more = of_time(400, 200);
        assert!(
            !more.contains('%') && more.contains("side by side"),
            "{more}"
        );
    }

    #[test]
    fn links_are_named_only_where_computing_took_less() {
        let rate = TickRate::per_second(1_000).unwrap();
        let said = |outside: Option<u64>| {
            let outside_calls = outside.map(|longer_ticks| OutsideCallsPart {
                longer_ticks,
                others_differ_ticks: 1,
            });
            let work = WorkPart {
                longer_ticks: 70,
                others_differ_ticks: 5,
                outside_calls,
                transfers_ticks: 60,
            };
            transfers("its", &work, rate)
        };
        let links = ", and its transfers took 60 ms longer: look at links first";
        assert_eq!(said(None), links);
        assert_eq!(said(Some(59)), links);
        assert_eq!(said(Some(60)), "");
    }
}
