//! The first pass over a document: who is in it, and where its slices and arrows stand.

use retime_chrome_json::members::members;
use retime_kineto::{EventText, Member, each_event};
use retime_model::Monitor;
use retime_model::format::{Document, FormatError};
use rustc_hash::FxHashMap;

use crate::flows::{FlowEnds, Flows, is_end};
use crate::slices::{Stay, arrange};
use crate::survey::Survey;

/// A document without the text of its events.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) survey: Survey,
    /// Stays by the number of the event that begins each.
    pub(crate) stays: Vec<Stay>,
    pub(crate) flows: Flows,
    /// Arguments that events `E` have, by the event that begins what they end.
    pub(crate) said_at_end: FxHashMap<u32, Box<[u8]>>,
}

/// Gathers an outline.
#[derive(Default)]
struct Gathered {
    survey: Survey,
    stays: Vec<Stay>,
    ends: FlowEnds,
    /// Stays that `B` has begun and no `E` has ended yet, by thread.
    open: FxHashMap<u32, Vec<usize>>,
    said_at_end: FxHashMap<u32, Box<[u8]>>,
    latest: i64,
    number: u32,
    /// True if the arrows that a merge drew in it are drawn anew.
    draws_anew: bool,
}

impl Outline {
    /// Reads a document; arrows get numbers from `first` on.
    pub(crate) fn of(
        document: &Document,
        first: u64,
        monitor: &dyn Monitor,
    ) -> Result<Self, FormatError> {
        let mut gathered = Gathered {
            draws_anew: !document.drawn.is_empty(),
            ..Gathered::default()
        };
        each_event(&document.path, monitor, &mut |event| gathered.take(event))?;
        let Gathered {
            survey,
            mut stays,
            ends,
            open,
            said_at_end,
            latest,
            ..
        } = gathered;
        // What is open at the end is closed there.
        for stay in open.into_values().flatten() {
            if let Some(stay) = stays.get_mut(stay) {
                stay.end = latest.max(stay.begin);
            }
        }
        arrange(&mut stays);
        let flows = ends.bind(&stays, first);
        stays.sort_unstable_by_key(|it| it.event);
        Ok(Self {
            survey,
            stays,
            flows,
            said_at_end,
        })
    }
}

impl Gathered {
    fn take(&mut self, event: EventText<'_>) -> Result<(), String> {
        let number = self.number;
        self.number = number
            .checked_add(1)
            .ok_or("a file with more than 2^32 events is too large")?;
        if self.draws_anew && is_drawn_by_merge(event) {
            return Ok(());
        }
        let Some(thread) = self.survey.take(event) else {
            return Ok(());
        };
        let Some((_, at)) = event.time() else {
            return Ok(());
        };
        let ph = event.text(Member::Ph);
        let length = event.length().and_then(|it| i64::try_from(it).ok());
        let end = at.saturating_add(length.filter(|_| ph == b"X").unwrap_or_default());
        self.latest = self.latest.max(end);
        match ph {
            b"X" => self.stays.push(Stay::new(thread, at, end, number)),
            b"B" => {
                self.open.entry(thread).or_default().push(self.stays.len());
                self.stays.push(Stay::new(thread, at, at, number));
            }
            b"E" => {
                let open = self.open.get_mut(&thread).and_then(Vec::pop);
                if let Some(stay) = open.and_then(|it| self.stays.get_mut(it)) {
                    stay.end = at.max(stay.begin);
                    let args = event.value(Member::Args);
                    if members(args).next().is_some() {
                        self.said_at_end.insert(stay.event, args.into());
                    }
                }
            }
            ph if is_end(ph) => self.ends.take(event, number, thread, at),
            _ => {}
        }
        Ok(())
    }
}

/// True for what a merge draws in Chrome's JSON: ends of arrows, and the slices that they are at.
pub(crate) fn is_drawn_by_merge(event: EventText<'_>) -> bool {
    let (cat, name) = (event.text(Member::Cat), event.text(Member::Name));
    match event.text(Member::Ph) {
        b"X" => cat == b"retime" && matches!(name, b"cause" | b"effect"),
        b"s" | b"f" => matches!(cat, b"dependency" | b"reversed") && name == b"dependency",
        _ => false,
    }
}
