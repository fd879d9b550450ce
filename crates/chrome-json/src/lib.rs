//! Events in Chrome's JSON as bytes: where each and its members stand, and the numbers of
//! microseconds that its times are.
//!
//! Files of this format have millions of events, of which readers need some members each and
//! writers change some digits. So nothing is built of what is read: a value is a span of bytes,
//! which may be cut anywhere, as where a window ends that moves over a file. `retime-kineto` reads
//! and rewrites profiles by it, `retime-merge` puts events into other documents. Of files, of what
//! events mean and of JSON beyond where its values end nothing is known here; what is to be
//! understood as a whole, such as arguments, their readers give to `serde_json`.
//!
//! - [`json`] says where values begin and end, of whatever depth.
//! - [`fields`] finds those members of an event that all events have.
//! - [`members`](mod@members) goes over all members of an object.
//! - [`micros`] turns text into nanoseconds, and back with nothing else changed.
//!
//! ```
//! use retime_chrome_json::fields::Fields;
//! use retime_chrome_json::json::Stop;
//! use retime_chrome_json::{members, micros};
//!
//! let bytes = br#"{"ph": "X", "ts": 4314435710599.241, "args": {"stream": 7}}, {"ph": "#;
//! let event = Fields::of(bytes).map_err(|_| "it is whole")?;
//! assert_eq!((event.ph.text(bytes), event.length), (&b"X"[..], 59));
//! let arguments: Vec<_> = members::members(event.args.of(bytes)).collect();
//! assert_eq!(arguments, [(&b"stream"[..], &b"7"[..])]);
//!
//! let was = event.ts.of(bytes);
//! let time = micros::parse(was).ok_or("it is a number")?;
//! let mut moved = Vec::new();
//! micros::write(&mut moved, time.nanoseconds + 3_500_000, time.form, was);
//! assert_eq!(moved, b"4314435714099.241");
//!
//! // Of the second more has to be read.
//! assert_eq!(Fields::of(&bytes[event.length + 2..]), Err(Stop::Cut));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod fields;
pub mod json;
pub mod members;
pub mod micros;
