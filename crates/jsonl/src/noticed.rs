//! Signs that a file does not mean what it seems to: ids that lines of several locations
//! carry at a time, and lines that stand newest first.

use retime_model::{LocationIndex, TraceInfo, plural, printable};

use crate::id::Id;

/// Falling stamps from which on the order of lines is judged.
const JUDGED: u64 = 3;

/// Falling stamps for each rising one, of lines that stand newest first.
const FALLING: u64 = 9;

/// Notes of one pass.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    shared: u64,
    first_shared: Option<SharedId>,
    /// Events with an earlier time than the line before them of their location.
    falling: u64,
    rising: u64,
}

/// A message id that lines of two locations carry where only one can.
#[derive(Debug)]
struct SharedId {
    id: String,
    is_send: bool,
    locations: [LocationIndex; 2],
}

impl Noticed {
    /// A line with a message id comes while one of another message, by `waiting`, has no partner.
    pub(crate) fn shares_id(&mut self, id: Id<'_>, is_send: bool, locations: [LocationIndex; 2]) {
        self.shared += 1;
        self.first_shared.get_or_insert_with(|| SharedId {
            id: id.to_string(),
            is_send,
            locations,
        });
    }

    /// An event comes after another of its location.
    pub(crate) fn follows(&mut self, before: u64, time: u64) {
        self.falling += u64::from(time < before);
        self.rising += u64::from(time > before);
    }

    /// All of it in words.
    pub(crate) fn warnings(&self, info: &TraceInfo) -> Vec<String> {
        let order = self.is_newest_first().then(|| {
            "lines stand newest first, so that effects come before their causes and all that a location \
             did seems to have happened at once; turn them round, as tac does, and leave a header first"
                .to_owned()
        });
        order.into_iter().chain(self.shared_ids(info)).collect()
    }

    fn is_newest_first(&self) -> bool {
        self.falling >= JUDGED && self.falling > FALLING.saturating_mul(self.rising)
    }

    fn shared_ids(&self, info: &TraceInfo) -> Option<String> {
        let first = self.first_shared.as_ref()?;
        let [one, other] = first.locations.map(|it| info.describe(it));
        let who = match (first.locations[0] == first.locations[1], first.is_send) {
            (true, _) => format!("{one} receives it before it sends it"),
            (false, true) => format!("sent by {one} and by {other}"),
            (false, false) => format!("received by {one} and by {other}"),
        };
        Some(format!(
            "{} with a message id that was in use already, first id {}, {who}: lines with one id are joined \
             in the order in which they stand, so sends and receives of different messages may be; give each \
             message an id of its own, such as one that begins with the name of its sender",
            plural(self.shared, "line"),
            printable(&first.id),
        ))
    }
}
