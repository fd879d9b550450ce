//! One pass over the pieces of a file: packets, and whatever else stands between them.
//!
//! ```text
//! key, length, packet   key, length, packet   ..      a file
//! packet                                              in one of these:
//!   compressed_packets   zlib --> key, length, packet ..
//! ```
//!
//! What is in compressed packets is a piece like any other, shown as it is uncompressed.

use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;
use retime_gzip::{Effort, Refused, Window};
use retime_model::format::FormatError;
use retime_model::{Monitor, Watched, open_regular};
use retime_perfetto_wire::fields::trace;
use retime_perfetto_wire::read::{Head, Wrong, varint};

use crate::error::PerfettoError;

/// The longest packet that is read, and the most that compressed packets may hold: hundreds of
/// times what is written, and a limit to what damaged files can make memory grow to.
pub(crate) const LONGEST: usize = 64 << 20;

/// The message on a file that ends too early.
const CUT: &str = "the file ends within this packet; was the program killed while it wrote, or \
                   the file cut off by a copy? Restore it";

/// The message on a file in which there is nothing.
const EMPTY: &str = "the file is empty, so it is no trace; was the program killed before it wrote, \
                     or the file cut off by a copy?";

/// The message on compressed packets that hold others.
pub(crate) const NESTED: &str = "compressed packets are within compressed packets";

/// A piece of a file.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// The place in the file at which the packet begins; inside of compressed ones, at which
    /// these do.
    pub(crate) at: u64,
    /// All of it.
    pub(crate) whole: &'a [u8],
    /// The key and the length of a packet, or all of what is none.
    pub(crate) head: &'a [u8],
    /// The packet, if it is one.
    pub(crate) packet: Option<&'a [u8]>,
}

impl<'a> Piece<'a> {
    /// The piece that begins `at` a byte, from its first byte to its last.
    fn of(bytes: &'a [u8], extent: Extent, at: u64) -> Self {
        let parts = bytes.split_at_checked(extent.head);
        let parts = parts.filter(|_| extent.is_packet);
        Self {
            at,
            whole: bytes,
            head: parts.map_or(bytes, |it| it.0),
            packet: parts.map(|it| it.1),
        }
    }

    /// The number of bytes that the length of the packet takes.
    pub(crate) fn length_width(&self) -> usize {
        self.head.len().saturating_sub(KEY_WIDTH)
    }

    /// The key.
    pub(crate) fn key(&self) -> &'a [u8] {
        self.head.get(..KEY_WIDTH).unwrap_or_default()
    }
}

/// Shows the pieces of a file to `visit`; how hard the file is compressed, if it is.
pub(crate) fn pieces(
    path: &Path,
    monitor: &dyn Monitor,
    visit: &mut dyn FnMut(Piece<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut file = File::open(path, monitor)?;
    let mut is_empty = true;
    while let Some(extent) = file.next()? {
        is_empty = false;
        let at = file.window.offset();
        let bytes = file.window.bytes().get(..extent.size).unwrap_or_default();
        visit(Piece::of(bytes, extent, at))?;
        file.window.advance(extent.size);
    }
    if is_empty {
        return Err(PerfettoError::packet(path, 0, EMPTY));
    }
    Ok(())
}

/// The effort with which a file is compressed, if it is.
pub(crate) fn effort(path: &Path) -> Result<Option<Effort>, FormatError> {
    Ok(File::open(path, &())?.window.effort())
}

/// Shows the pieces of compressed packets, which begin `at` a byte of the file.
pub(crate) fn compressed(
    path: &Path,
    at: u64,
    packed: &[u8],
    visit: &mut dyn FnMut(Piece<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut content = Vec::new();
    let most = LONGEST as u64;
    let damaged = |what: String| PerfettoError::packet(path, at, what);
    let read = ZlibDecoder::new(packed)
        .take(most + 1)
        .read_to_end(&mut content);
    read.map_err(|error| damaged(format!("its compressed packets are damaged: {error}")))?;
    if content.len() > LONGEST {
        return Err(damaged(format!(
            "its compressed packets hold more than {} MiB",
            LONGEST >> 20
        )));
    }
    let mut start = 0;
    while start < content.len() {
        let bytes = content.get(start..).unwrap_or_default();
        let extent = match Extent::of(bytes) {
            Ok(extent) if extent.size <= bytes.len() => extent,
            Ok(_) | Err(Wrong::Cut) => {
                return Err(damaged("its compressed packets end within one".to_owned()));
            }
            Err(wrong) => {
                let what = format!("what is in its compressed packets is none: it {wrong}");
                return Err(damaged(what));
            }
        };
        let own = bytes.get(..extent.size).unwrap_or_default();
        visit(Piece::of(own, extent, at))?;
        start += extent.size;
    }
    Ok(())
}

/// The key of packets: their number, and that bytes follow.
pub(crate) const PACKET_KEY: u8 = (trace::PACKET << 3) as u8 | 2;

/// The number of bytes of that key.
const KEY_WIDTH: usize = 1;

/// How far a piece extends.
#[derive(Clone, Copy)]
struct Extent {
    /// The number of bytes of its key, and of its length if it says one.
    head: usize,
    /// The number of bytes of all of it, which may be more than there are.
    size: usize,
    is_packet: bool,
}

impl Extent {
    /// The extent of the piece at the beginning of bytes.
    #[inline]
    fn of(bytes: &[u8]) -> Result<Self, Wrong> {
        let head = Head::of(bytes)?;
        let Some(length) = head.length else {
            let mut size = head.size;
            varint(bytes, &mut size)?;
            return Ok(Self {
                head: head.size,
                size,
                is_packet: false,
            });
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(Self {
            head: head.size,
            size: head.size.saturating_add(length),
            is_packet: bytes.first() == Some(&PACKET_KEY),
        })
    }
}

/// A file, from its beginning to its end.
struct File<'a> {
    path: &'a Path,
    monitor: &'a dyn Monitor,
    window: Window<'a>,
}

impl<'a> File<'a> {
    fn open(path: &'a Path, monitor: &'a dyn Monitor) -> Result<Self, FormatError> {
        let failed = |source| PerfettoError::io(path, source);
        let reader = open_regular(path).map_err(failed)?;
        let watched = Watched { reader, monitor };
        let window = Window::new(watched, LONGEST).map_err(failed)?;
        Ok(Self {
            path,
            monitor,
            window,
        })
    }

    /// The extent of the next piece, all of which is in the window.
    fn next(&mut self) -> Result<Option<Extent>, FormatError> {
        loop {
            let bytes = self.window.bytes();
            match Extent::of(bytes) {
                Ok(extent) if extent.size <= bytes.len() => return Ok(Some(extent)),
                Ok(extent) if extent.size > LONGEST => {
                    let most = LONGEST >> 20;
                    let what = format!(
                        "a packet of more than {most} MiB begins here; is this a trace of Perfetto?"
                    );
                    return Err(self.wrong(what));
                }
                Ok(_) | Err(Wrong::Cut) => {
                    if !self.more()? {
                        if self.window.bytes().is_empty() {
                            return Ok(None);
                        }
                        return Err(self.wrong(CUT));
                    }
                }
                Err(wrong) => {
                    let what = format!("no packet of Perfetto begins here: it {wrong}");
                    return Err(self.wrong(what));
                }
            }
        }
    }

    fn wrong(&self, what: impl Into<String>) -> FormatError {
        PerfettoError::packet(self.path, self.window.offset(), what)
    }

    fn more(&mut self) -> Result<bool, FormatError> {
        self.monitor.check()?;
        let byte = self.window.offset() + self.window.bytes().len() as u64;
        self.window.more().map_err(|refused| match refused {
            Refused::TooLong => self.wrong("a packet that begins here is too long"),
            Refused::Read(source) if source.raw_os_error().is_none() => {
                let what = format!("what is compressed is damaged from here on: {source}");
                PerfettoError::packet(self.path, byte, what)
            }
            Refused::Read(source) => PerfettoError::Read {
                path: self.path.to_owned(),
                byte,
                source,
            }
            .into(),
        })
    }
}
