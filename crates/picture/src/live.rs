//! A trace of which any stretch can be drawn at once.

use std::fs::File;
use std::io;

use rayon::prelude::*;
use retime::Monitor;
use retime::format::FormatError;

use crate::arrows::Arrows;
use crate::levels::Stretch;
use crate::places::Place;
use crate::{Picture, Seen, Subject, View};

/// Calls that are drawn of a stretch.
const CALLS: usize = 30_000;
/// Its arrows may take as much room as all of a page with so many views.
const VIEWS: usize = 2;

/// A picture, and all that it was made of.
pub struct Live(Seen);

impl Live {
    /// Draws a trace; reads all its events once and keeps them in files that `file` makes,
    /// one for each location that is shown.
    pub fn new(
        subject: &Subject<'_>,
        file: &(dyn Fn() -> io::Result<File> + Sync),
        monitor: &dyn Monitor,
    ) -> Result<Self, FormatError> {
        crate::drawn(subject, Some(file), monitor).map(Self)
    }

    /// The picture with which the page begins.
    pub fn picture(&self) -> &Picture {
        &self.0.picture
    }

    /// The stretch between two times, in ticks since the smallest recorded stamp.
    pub fn view(&self, subject: &Subject<'_>, from: i64, to: i64) -> io::Result<View> {
        let Seen {
            picture,
            regions,
            drawn,
        } = &self.0;
        let place = Place {
            title: String::new(),
            from,
            to,
            pair: None,
            dependency: None,
        };
        let most = CALLS / picture.lanes.len().max(1);
        let lanes = picture.lanes.shown.par_iter().map(|lane| {
            let drawn = drawn.get(lane.location.as_usize());
            let levels = drawn.and_then(|it| it.as_ref()?.levels.as_ref());
            let draw = |it: &crate::levels::Levels| it.draw(&place, lane, most, subject, regions);
            levels.map(draw).transpose()
        });
        let lanes: io::Result<Vec<Option<Stretch>>> = lanes.collect();
        let (mut slices, mut strips) = (Vec::new(), Vec::new());
        for lane in lanes? {
            let (calls, strip) = match lane {
                Some(Stretch::Calls(calls)) => (Some(calls), None),
                Some(Stretch::Strip(strip)) => (None, Some(strip)),
                None => (None, None),
            };
            slices.push(calls);
            strips.push(strip);
        }
        Ok(View {
            arrows: Arrows::of(subject, &place, &picture.lanes, VIEWS),
            place,
            slices,
            strips,
        })
    }
}
