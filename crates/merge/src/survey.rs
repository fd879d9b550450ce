//! The processes and threads of a document: who has events, what they are called, and in which
//! order they stand.
//!
//! Documents name all devices of a machine, though a rank uses one; processes without events
//! are not shown. An event without a thread is on one that has no name.

use retime_chrome_json::members::{members, unquoted};
use retime_kineto::{EventText, Member};
use rustc_hash::FxHashMap;

/// The processes of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    pub(crate) processes: Vec<ProcessSeen>,
    pub(crate) threads: Vec<ThreadSeen>,
    by_pid: FxHashMap<Box<[u8]>, u32>,
    by_thread: FxHashMap<Box<[u8]>, u32>,
    /// The last thread that was asked for, since events of one often follow each other.
    last: Option<(Box<[u8]>, u32)>,
    key: Vec<u8>,
}

/// A process, as the document speaks of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessSeen {
    /// The value of `pid`, without quotes.
    pub(crate) pid: String,
    pub(crate) name: Option<String>,
    pub(crate) labels: Option<String>,
    pub(crate) sort_index: Option<i64>,
    pub(crate) has_events: bool,
}

/// A thread, or whatever else events are on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadSeen {
    pub(crate) process: u32,
    pub(crate) tid: String,
    pub(crate) name: Option<String>,
    pub(crate) sort_index: Option<i64>,
    pub(crate) has_events: bool,
}

/// The properties of processes and threads that events of the type `M` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    ProcessName,
    ProcessLabels,
    ProcessSortIndex,
    ThreadName,
    ThreadSortIndex,
    ProfileHeader,
    Other,
}

impl Naming {
    pub(crate) fn of(event: EventText<'_>) -> Self {
        match event.text(Member::Name) {
            b"process_name" => Self::ProcessName,
            b"process_labels" => Self::ProcessLabels,
            b"process_sort_index" => Self::ProcessSortIndex,
            b"thread_name" => Self::ThreadName,
            b"thread_sort_index" => Self::ThreadSortIndex,
            b"profile_header" => Self::ProfileHeader,
            _ => Self::Other,
        }
    }
}

impl Survey {
    /// Takes up an event; the thread that it is on, unless it only names something.
    pub(crate) fn take(&mut self, event: EventText<'_>) -> Option<u32> {
        if event.text(Member::Ph) == b"M" {
            self.name(event);
            return None;
        }
        let thread = self.thread(event);
        let own = self.threads.get_mut(thread as usize)?;
        own.has_events = true;
        let process = self.processes.get_mut(own.process as usize)?;
        process.has_events = true;
        Some(thread)
    }

    /// The thread of an event, which is taken up if it is new.
    pub(crate) fn thread(&mut self, event: EventText<'_>) -> u32 {
        let (pid, tid) = (event.text(Member::Pid), event.text(Member::Tid));
        self.key.clear();
        self.key.extend_from_slice(pid);
        // No text of JSON holds one that is not escaped.
        self.key.push(b'\n');
        self.key.extend_from_slice(tid);
        if let Some((key, thread)) = &self.last
            && **key == *self.key
        {
            return *thread;
        }
        let next = self.threads.len() as u32;
        let thread = self.by_thread.get(&*self.key).copied().unwrap_or(next);
        if thread == next {
            self.by_thread.insert(self.key.as_slice().into(), next);
            let process = self.process(pid);
            self.threads.push(ThreadSeen {
                process,
                tid: unquoted(tid).into_owned(),
                ..ThreadSeen::default()
            });
        }
        self.last = Some((self.key.as_slice().into(), thread));
        thread
    }

    /// The thread of these words, if there is one.
    pub(crate) fn find(&self, pid: &str, tid: &str) -> Option<u32> {
        let key = [pid.as_bytes(), b"\n", tid.as_bytes()].concat();
        self.by_thread.get(&*key).copied()
    }

    /// The process of a pid, if it is known.
    pub(crate) fn find_process(&self, pid: &[u8]) -> Option<u32> {
        self.by_pid.get(pid).copied()
    }

    fn process(&mut self, pid: &[u8]) -> u32 {
        let next = self.processes.len() as u32;
        let process = self.by_pid.get(pid).copied().unwrap_or(next);
        if process == next {
            self.by_pid.insert(pid.into(), next);
            self.processes.push(ProcessSeen {
                pid: unquoted(pid).into_owned(),
                ..ProcessSeen::default()
            });
        }
        process
    }

    fn name(&mut self, event: EventText<'_>) {
        let naming = Naming::of(event);
        let args = event.value(Member::Args);
        let said = |key: &[u8]| members(args).find(|it| it.0 == key).map(|it| it.1);
        let text = |key| said(key).map(|it| unquoted(without_quotes(it)).into_owned());
        let number = |key| {
            let text = std::str::from_utf8(without_quotes(said(key)?)).ok()?;
            text.parse().ok()
        };
        match naming {
            Naming::ThreadName | Naming::ThreadSortIndex => {
                let thread = self.thread(event) as usize;
                let Some(thread) = self.threads.get_mut(thread) else {
                    return;
                };
                match naming {
                    Naming::ThreadName => thread.name = text(b"name"),
                    _ => thread.sort_index = number(b"sort_index"),
                }
            }
            Naming::ProfileHeader | Naming::Other => {}
            _ => {
                let process = self.process(event.text(Member::Pid)) as usize;
                let Some(process) = self.processes.get_mut(process) else {
                    return;
                };
                match naming {
                    Naming::ProcessName => process.name = text(b"name"),
                    Naming::ProcessLabels => process.labels = text(b"labels"),
                    _ => process.sort_index = number(b"sort_index"),
                }
            }
        }
    }

    /// The processes with events, in the order that the document gives them.
    pub(crate) fn shown(&self) -> Vec<u32> {
        let mut shown: Vec<u32> = (0..self.processes.len() as u32)
            .filter(|it| self.processes[*it as usize].has_events)
            .collect();
        // What has no place comes behind, as it was met.
        let place = |it: &u32| {
            let index = self.processes.get(*it as usize)?.sort_index;
            index.or(Some(i64::MAX))
        };
        shown.sort_by_key(place);
        shown
    }

    /// The threads of a process with events, likewise.
    pub(crate) fn threads_of(&self, process: u32) -> Vec<u32> {
        let all = (0..).zip(&self.threads);
        let own = all.filter(|it| it.1.process == process && it.1.has_events);
        let mut own: Vec<(u32, i64)> = own
            .map(|(thread, it)| (thread, it.sort_index.unwrap_or(i64::MAX)))
            .collect();
        own.sort_by_key(|it| it.1);
        own.into_iter().map(|it| it.0).collect()
    }
}

/// The bytes of a value without its quotes, if it is text.
pub(crate) fn without_quotes(value: &[u8]) -> &[u8] {
    match value {
        [b'"', text @ .., b'"'] => text,
        _ => value,
    }
}
