//! How hard compressed data was compressed, so that a copy can be as small.

use flate2::Compression;

/// How hard to compress. A file says it in its header (XFL; RFC 1952, section 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// As fast as possible.
    Fast,
    /// As programs do that are not told; a file says nothing then.
    #[default]
    Usual,
    /// As small as possible.
    Most,
}

/// Where the header says it.
const XFL: usize = 8;

impl Effort {
    /// That of a file which begins like this.
    pub(crate) fn of_header(header: &[u8]) -> Self {
        match header.get(XFL) {
            Some(4) => Self::Fast,
            Some(2) => Self::Most,
            _ => Self::Usual,
        }
    }

    /// As the header says it.
    pub(crate) fn flag(self) -> u8 {
        match self {
            Self::Fast => 4,
            Self::Usual => 0,
            Self::Most => 2,
        }
    }

    pub(crate) fn level(self) -> Compression {
        match self {
            Self::Fast => Compression::fast(),
            Self::Usual => Compression::default(),
            // The compressor at hand needs a level more than that of gzip for the same size.
            Self::Most => Compression::new(10),
        }
    }
}
