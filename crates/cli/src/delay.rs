//! `--min-delay`: learned by a rule, given, from a file, or from the correction of the trace.
//!
//! A file has one delay per line, with the location ids it holds for; `*` is
//! any location, and instead of two locations a line can name a class of pairs. A bandwidth
//! after the delay adds what bytes take. The more specific line wins, `#` starts a comment:
//!
//! ```text
//! # from  to  delay  bandwidth
//! *       *   500ns
//! between-nodes  2us  12.5GB/s
//! 0       *   1us
//! 0       3   1.5us  10GB/s
//! ```

use std::path::Path;
use std::str::FromStr;

use retime::estimate::DelayRule;
use retime::pipeline::AskedDelay;
use retime::{
    Bandwidth, Delay, DelayByLength, DelayTable, LocationIndex, MinimalDelay, PairClass,
    ParseDelayError, Ticks, TraceInfo,
};
use serde::Serialize;

use crate::error::CliError;
use crate::lines::{Line, lines, location_or_any};
use crate::value_or_file::{ValueOrFile, read_text};

/// Where the minimal delay comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MinDelay {
    /// From the correction that belongs to the trace, if it has one, else learned.
    Auto,
    /// Learned by a rule that was named.
    Rule(DelayRule),
    Given(ValueOrFile),
}

/// The rules that have names.
const RULES: [(&str, DelayRule); 3] = [
    ("by-length", DelayRule::ByLength),
    ("quarter-call", DelayRule::QuarterOfCall),
    ("quarter-call-90", DelayRule::NinetyPercentOfQuarter),
];

impl FromStr for MinDelay {
    type Err = ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let rule = RULES.iter().find(|it| it.0 == text);
        rule.map_or_else(|| text.parse().map(Self::Given), |it| Ok(Self::Rule(it.1)))
    }
}

impl MinDelay {
    /// True if it may depend on the lengths of messages.
    pub(crate) fn looks_at_lengths(&self) -> bool {
        match self {
            Self::Auto | Self::Given(ValueOrFile::Value(_)) => false,
            Self::Given(ValueOrFile::File(_)) => true,
            Self::Rule(rule) => rule.looks_at_lengths(),
        }
    }

    /// True if processes that hold a part of the trace each can learn or enforce it together.
    pub(crate) fn can_be_together(&self) -> bool {
        matches!(self, Self::Auto | Self::Given(ValueOrFile::Value(_)))
    }

    /// The delay that is wanted for a trace.
    pub(crate) fn asked(&self, info: &TraceInfo) -> Result<AskedDelay, CliError> {
        Ok(match self {
            Self::Auto => AskedDelay::default(),
            Self::Rule(rule) => AskedDelay::Learned(*rule),
            Self::Given(ValueOrFile::Value(delay)) => {
                AskedDelay::Given(MinimalDelay::Uniform(ticks(*delay, info)?))
            }
            Self::Given(ValueOrFile::File(path)) => {
                AskedDelay::Given(MinimalDelay::PerPair(read_table(path, info)?))
            }
        })
    }
}

/// Where the minimal delay comes from, as reports say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DelaySource {
    Learned,
    ByLength,
    QuarterCall,
    #[serde(rename = "quarter-call-90")]
    QuarterCall90,
    Given,
    File,
    /// From the correction that belongs to the trace.
    Saved,
}

impl DelaySource {
    /// The source of a delay, which was `saved` with the trace or not.
    pub(crate) fn of(option: &MinDelay, saved: bool) -> Self {
        match option {
            MinDelay::Auto if saved => Self::Saved,
            MinDelay::Auto | MinDelay::Rule(DelayRule::Fastest) => Self::Learned,
            MinDelay::Rule(DelayRule::ByLength) => Self::ByLength,
            MinDelay::Rule(DelayRule::QuarterOfCall) => Self::QuarterCall,
            MinDelay::Rule(DelayRule::NinetyPercentOfQuarter) => Self::QuarterCall90,
            MinDelay::Given(ValueOrFile::Value(_)) => Self::Given,
            MinDelay::Given(ValueOrFile::File(_)) => Self::File,
        }
    }
}

/// A longer delay than a day cannot be meant, and overflows nothing.
fn ticks(delay: Delay, info: &TraceInfo) -> Result<Ticks, CliError> {
    let day = i64::try_from(info.rate.get().saturating_mul(86_400))
        .unwrap_or(i64::MAX)
        .min(1 << 60);
    let ticks = delay.to_ticks(info.rate).filter(|ticks| ticks.0 <= day);
    ticks.ok_or_else(|| {
        CliError::Usage("--min-delay: longer than a day; this cannot be a minimal delay".into())
    })
}

/// The pairs that a line holds for.
enum Pairs {
    Of(Option<LocationIndex>, Option<LocationIndex>),
    Class(PairClass),
}

/// The classes of pairs by their names.
const CLASSES: [(&str, PairClass); 3] = [
    ("within-process", PairClass::WithinProcess),
    ("within-node", PairClass::WithinNode),
    ("between-nodes", PairClass::BetweenNodes),
];

fn read_table(path: &Path, info: &TraceInfo) -> Result<DelayTable, CliError> {
    let neither = "auto, nor the name of a rule, nor a value with a unit such as 2us";
    let text = read_text("--min-delay", neither, path)?;
    let mut table = DelayTable::of(info);
    for line in lines(path, &text) {
        let (pairs, delay) = entry(&line, info)?;
        match pairs {
            Pairs::Of(from, to) => table.set(from, to, delay),
            Pairs::Class(class) => table.set_class(class, delay),
        }
    }
    Ok(table)
}

/// The content of a line.
fn entry(line: &Line<'_>, info: &TraceInfo) -> Result<(Pairs, DelayByLength), CliError> {
    let first = line.word(0);
    let class = CLASSES.iter().find(|it| Some(it.0) == first);
    let (pairs, delay, bandwidth) = if let Some((_, class)) = class {
        let [_, delay] = line.words_before("CLASS DELAY [BANDWIDTH]", 1)?;
        (Pairs::Class(*class), delay, line.word(2))
    } else {
        let expected = "FROM TO DELAY [BANDWIDTH]\" or \"within-process|within-node|between-nodes \
                        DELAY [BANDWIDTH]";
        let [from, to, delay] = line.words_before(expected, 1)?;
        let whose = |word| location_or_any(word, info).map_err(|what| line.wrong(what));
        (Pairs::Of(whose(from)?, whose(to)?), delay, line.word(3))
    };
    let latency = ticks(line.span(delay)?, info)?;
    let bandwidth = bandwidth.map(str::parse::<Bandwidth>).transpose();
    let delay = match bandwidth.map_err(|error| line.wrong(error))? {
        Some(bandwidth) => DelayByLength::new(latency, bandwidth, info.rate),
        None => latency.into(),
    };
    Ok((pairs, delay))
}
