//! Properties of an archive as a whole.

use super::{
    chunked::check_size,
    failure::{WriteError, WriteResult},
};

/// Properties of an archive as a whole.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Ticks per second of all times.
    pub resolution: u64,
    /// First and last time as declared to readers. `None` takes them from the
    /// events, which is right as long as no location has clock offsets.
    pub range: Option<(u64, u64)>,
    /// Wall-clock time of the first tick of the range, in nanoseconds since
    /// 1970.
    pub realtime: Option<u64>,
    /// True if an event may be older than the one before it on its location.
    /// OTF2 does not allow it, but readers have to cope with such traces.
    pub allow_disorder: bool,
    /// Bytes per chunk of the event files.
    pub event_chunk: u64,
    /// Bytes per chunk of the definition files.
    pub definition_chunk: u64,
    /// Name of the machine, as shown to users.
    pub machine: String,
    /// Name of the program that writes, as shown to users.
    pub creator: String,
    /// Free text.
    pub description: String,
    /// Pairs of names and values. OTF2 asks for names like `TOOL::NAME`.
    pub properties: Vec<(String, String)>,
    /// A number meant to tell traces apart.
    pub trace_id: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            resolution: 1_000_000_000,
            range: None,
            realtime: None,
            allow_disorder: false,
            event_chunk: 1 << 20,
            definition_chunk: 4 << 20,
            machine: String::new(),
            creator: "retime".to_owned(),
            description: String::new(),
            properties: Vec::new(),
            trace_id: 0,
        }
    }
}

impl WriteOptions {
    pub(super) fn check(&self) -> WriteResult {
        check_size(self.event_chunk)?;
        check_size(self.definition_chunk)?;
        let properties = self
            .properties
            .iter()
            .flat_map(|(name, value)| [name, value]);
        let mut texts = [&self.machine, &self.creator, &self.description]
            .into_iter()
            .chain(properties);
        match texts.find(|text| text.contains('\0')) {
            Some(text) => Err(WriteError::NulInText(text.clone())),
            None => Ok(()),
        }
    }
}
