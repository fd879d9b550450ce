//! How hard compressed data was compressed, so that a copy can be as small.

use flate2::Compression;

/// The effort of compression, which a file states in its header (XFL; RFC 1952, section 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// The fastest compression.
    Fast,
    /// The default of programs; the header of a file says nothing then.
    #[default]
    Usual,
    /// The smallest result.
    Most,
}

/// The place of XFL in a header.
const XFL: usize = 8;

impl Effort {
    /// Reads the effort from the header of a file.
    pub(crate) fn of_header(header: &[u8]) -> Self {
        match header.get(XFL) {
            Some(4) => Self::Fast,
            Some(2) => Self::Most,
            _ => Self::Usual,
        }
    }

    /// The value of XFL that states this effort.
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
