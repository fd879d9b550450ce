//! One process aligns, and asks the others for what they know.
//!
//! An alignment goes over the dependencies a few dozen times, each time for something
//! else, and what for depends on what came of the time before. Where several processes
//! [share](crate::Share) a trace, what they find by it is put together for the first of
//! them; that alone decides what to look for next, and has to have room for what is
//! [reduced](super::reduced) of the dependencies of all.
//!
//! ```text
//!  process 0     led: work ... ask(Reduce) -> collected ... ask(Done) -> its result
//!  process 1, 2  led: asked <- Reduce: looks at its own -> collected ... Done <- result
//! ```

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::outliers::Suspects;
use super::reduced::{Reduced, Reduction, Same};
use crate::edges::Source;
use retime_model::{Cancelled, Monitor};

/// What the others are to look for.
#[derive(Serialize, Deserialize)]
pub(super) enum Request<'a> {
    /// The dependencies that can be the tightest.
    Reduce(Cow<'a, Reduction>, Cow<'a, FxHashSet<Same>>),
    /// Outliers.
    Judge(Cow<'a, Suspects>, Cow<'a, FxHashSet<Same>>),
    /// Nothing more.
    Done,
}

/// What the first process works out, asking the others wherever it walks over the
/// dependencies of a source; they wait for what they are asked, and get to know the result.
pub(super) fn led<T>(
    source: &impl Source,
    monitor: &dyn Monitor,
    work: impl FnOnce() -> Result<T, Cancelled>,
) -> Result<T, Cancelled>
where
    T: Clone + Serialize + DeserializeOwned,
{
    let share = source.share();
    if !share.is_first() {
        follow(source, monitor)?;
    }
    share.once(|| {
        let done = work()?;
        share.ask(Request::Done);
        Ok(done)
    })
}

/// Does what is asked for. What comes of it is known to the first.
fn follow(source: &impl Source, monitor: &dyn Monitor) -> Result<(), Cancelled> {
    loop {
        match source.share().asked()? {
            Request::Reduce(reduction, left_out) => {
                Reduced::new(source, &reduction, &left_out, monitor)?;
            }
            Request::Judge(suspects, left_out) => {
                suspects.outliers(source, &left_out, monitor)?;
            }
            Request::Done => return Ok(()),
        }
    }
}
