//! A trace that is analysed and corrected in memory: corrected times, and how far these can be
//! from the truth.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use ::library::{ClockId, LocationIndex, Timestamp};
use retime_cli::library;

use crate::border::{giving, guarded, making, path, place, places, row, seen, unmade, words};
use crate::commands::line;
use crate::failed::{Failed, Status};
use crate::report::Counts;
use crate::trace::no_location;
use crate::watch::{Watch, call};

/// A trace that was analysed and corrected in memory.
pub struct Study(library::Study);

impl Study {
    fn clock(&self, location: u32) -> Result<ClockId, Failed> {
        let analysis = self.0.analysis();
        let count = analysis.info().locations.len();
        if location as usize >= count {
            return Err(no_location(location as usize, count));
        }
        Ok(analysis.clocks().of(LocationIndex(location)))
    }

    fn corrected(
        &self,
        location: u32,
        recorded: &[u64],
        corrected: &mut [MaybeUninit<u64>],
    ) -> Result<(), Failed> {
        let clock = self.clock(location)?;
        let map = self.0.solution().map(|it| it.correction.map(clock));
        let mut cursor = map.map(|it| it.cursor(LocationIndex(location)));
        for (&recorded, corrected) in recorded.iter().zip(corrected) {
            let time = match &mut cursor {
                Some(cursor) => cursor.map_time(Timestamp(recorded)),
                None => Some(Timestamp(recorded)),
            };
            let time = time.ok_or_else(|| {
                Failed::argument(format!(
                    "the corrected time of {recorded} at location {location} does not fit into 64 bits"
                ))
            })?;
            corrected.write(time.0);
        }
        Ok(())
    }

    fn bounds(
        &self,
        location: u32,
        recorded: &[u64],
        before: &mut [MaybeUninit<f64>],
        after: &mut [MaybeUninit<f64>],
    ) -> Result<(), Failed> {
        let clock = self.clock(location)?;
        let bounds = self.0.bounds();
        let bound = bounds.and_then(|it| it.errors.clocks.get(clock.as_usize())?.as_ref());
        let sides = before.iter_mut().zip(after);
        for (&recorded, (before, after)) in recorded.iter().zip(sides) {
            let unknown = (f64::INFINITY, f64::INFINITY);
            let found = bound.map_or(unknown, |it| it.at(Timestamp(recorded)));
            before.write(found.0);
            after.write(found.1);
        }
        Ok(())
    }
}

/// Analyses a trace and corrects it in memory; nothing is written. `options` are words for
/// `retime correct`, up to a NULL; or NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_study_make(
    trace: *const c_char,
    options: *const *const c_char,
    watch: *const Watch,
    study: *mut *mut Study,
) -> Status {
    let make = || {
        // SAFETY: words, as the header asks for.
        let options = unsafe { words(options) }?;
        // SAFETY: a text, as the header asks for.
        let trace = unsafe { path(trace, "the path of the trace") }?;
        // A path that is asked for but never written to.
        let output = Some("/dev/null".into());
        let words = line("correct", options, output, &[trace.into()]);
        // SAFETY: a watcher, as the header asks for.
        let call = unsafe { call(words, watch) }?;
        Ok(Study(library::Study::of(&call)?))
    };
    // SAFETY: room for a handle, as the header asks for.
    unsafe { making(study, "the place for the study", make) }
}

/// Frees a study; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_study_free(study: *mut Study) {
    // SAFETY: a handle, as the header asks for.
    unsafe { unmade(study) }
}

/// The figures of the trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_study_counts(study: *const Study, counts: *mut Counts) -> Status {
    let find = || {
        // SAFETY: a handle, as the header asks for.
        let study = unsafe { seen(study, "the study") }?;
        Ok(study.0.summary().into())
    };
    // SAFETY: room for the counts, as the header asks for.
    unsafe { giving(counts, "the place for the counts", find) }
}

/// The recorded times of the first and the last event of a location; `RETIME_STATUS_EMPTY`,
/// which is no failure, if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_study_extent(
    study: *const Study,
    location: u32,
    first: *mut u64,
    last: *mut u64,
) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        let study = unsafe { seen(study, "the study") }?;
        // SAFETY: room for a time, as the header asks for.
        let first = unsafe { place(first, "the place for the first time") }?;
        // SAFETY: room for a time, as the header asks for.
        let last = unsafe { place(last, "the place for the last time") }?;
        study.clock(location)?;
        let nodes = study.0.analysis().causality().nodes();
        let Some(extent) = nodes.extent(location as usize) else {
            return Ok(Status::Empty);
        };
        first.write(extent.first.0);
        last.write(extent.last.0);
        Ok(Status::Ok)
    })
}

/// The corrected times of recorded ones of a location, which is given by its position, from 0 on.
/// It is quickest where times rise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_study_corrected(
    study: *const Study,
    location: u32,
    recorded: *const u64,
    count: usize,
    corrected: *mut u64,
) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        let study = unsafe { seen(study, "the study") }?;
        // SAFETY: so many, as the header asks for.
        let recorded = unsafe { row(recorded, count, "the recorded times") }?;
        // SAFETY: room for so many, as the header asks for.
        let corrected = unsafe { places(corrected, count, "the place for corrected times") }?;
        study.corrected(location, recorded, corrected)?;
        Ok(Status::Ok)
    })
}

/// The ticks by which the truth may lie before and after the corrected time of each recorded one,
/// by the time of the reference clock: certain if clocks wander no more than `--drift-bound`, and
/// infinite where nothing is known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_study_bounds(
    study: *const Study,
    location: u32,
    recorded: *const u64,
    count: usize,
    before: *mut f64,
    after: *mut f64,
) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        let study = unsafe { seen(study, "the study") }?;
        // SAFETY: so many, as the header asks for.
        let recorded = unsafe { row(recorded, count, "the recorded times") }?;
        // SAFETY: room for so many, as the header asks for.
        let before = unsafe { places(before, count, "the place for bounds before") }?;
        // SAFETY: room for so many, as the header asks for.
        let after = unsafe { places(after, count, "the place for bounds after") }?;
        study.bounds(location, recorded, before, after)?;
        Ok(Status::Ok)
    })
}
