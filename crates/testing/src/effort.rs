//! How many of their cases exhaustive tests try.
//!
//! A fault at every call, a change of every byte, or a thousand random programs take minutes.
//! `make test` tries a [sample](Effort::Sample) of such cases, spread over all of them, so that it
//! ends while one waits for it; `.ci/run` tries [many](Effort::Wide) and `make test-long`
//! [all](Effort::All). The environment variable `RETIME_EFFORT` says which.

/// How many of its cases a test tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// A few of each kind: the default.
    Sample,
    /// Many, with `RETIME_EFFORT=wide`.
    Wide,
    /// Every one, with `RETIME_EFFORT=all`.
    All,
}

impl Effort {
    /// The effort that the environment asks for.
    ///
    /// # Panics
    ///
    /// If `RETIME_EFFORT` is another word: a test that tries fewer cases than was meant would pass
    /// unnoticed.
    #[expect(clippy::panic, reason = "it is for tests")]
    pub fn asked() -> Self {
        match std::env::var("RETIME_EFFORT").as_deref() {
            Err(_) | Ok("" | "sample") => Self::Sample,
            Ok("wide") => Self::Wide,
            Ok("all") => Self::All,
            Ok(other) => panic!("RETIME_EFFORT={other}: sample, wide or all"),
        }
    }

    /// One of three values, such as a stride or a number of cases.
    pub fn pick<T>(self, sample: T, wide: T, all: T) -> T {
        match self {
            Self::Sample => sample,
            Self::Wide => wide,
            Self::All => all,
        }
    }
}
