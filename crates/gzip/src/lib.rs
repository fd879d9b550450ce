//! Files that are plain or gzip: read through a window that moves, written in parallel.
//!
//! - [`Window`] shows a file from its beginning to its end, whatever it is compressed with.
//! - [`Output`] takes chunks and compresses them as one gzip member, as hard as another file is
//!   compressed by its [`Effort`].
//!
//! ```
//! use retime_gzip::{Effort, Output, Window};
//!
//! let mut file = Vec::new();
//! let mut output = Output::new(&mut file, Some(Effort::Most))?;
//! let packed = output.packing().packed(b"one line\nanother\n".to_vec())?;
//! output.put(&packed)?;
//! output.finish()?;
//!
//! let mut window = Window::new(&*file, 1 << 20)?;
//! while window.more().is_ok_and(|more| more) {}
//! assert_eq!(window.effort(), Some(Effort::Most));
//! assert_eq!(window.bytes(), b"one line\nanother\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod ahead;
mod effort;
mod output;
mod window;

pub use effort::Effort;
pub use output::{Output, Packed, Packing};
pub use window::{Refused, Window, content, first_bytes, is_gzip};
