//! Ranks and hosts that labels and names of processes say.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::header::Header;
use crate::labels;

/// The statements of labels and names of processes, where ranks were put into one file.
#[derive(Debug, Default)]
pub(crate) struct Labelled {
    /// The label of the rank of a process, by pid.
    ranks: FxHashMap<String, String>,
    /// The host of a rank, by its label; none where several are said.
    hosts: BTreeMap<String, Option<String>>,
}

impl Labelled {
    /// The label of the rank that a process is of.
    pub(crate) fn rank(&self, pid: &str) -> Option<&String> {
        self.ranks.get(pid)
    }

    /// Takes the name of a process, which says less than a label does.
    pub(crate) fn name(&mut self, pid: &str, name: &str) {
        if let Some(rank) = self.read(name) {
            self.ranks.entry(pid.to_owned()).or_insert(rank);
        }
    }

    /// Takes a label of a process.
    pub(crate) fn label(&mut self, pid: String, label: &str) {
        if let Some(rank) = self.read(label) {
            self.ranks.insert(pid, rank);
        }
    }

    /// The rank that a text says, whose host is noted.
    fn read(&mut self, text: &str) -> Option<String> {
        let rank = labels::of_process(text)?;
        if let Some(host) = labels::host_of_process(text) {
            let known = self.hosts.entry(rank.clone());
            let known = known.or_insert_with(|| Some(host.to_owned()));
            *known = known.take().filter(|it| it == host);
        }
        Some(rank)
    }

    /// Headers that say the hosts of ranks, for those that have no other.
    pub(crate) fn add_hosts(&self, headers: &mut BTreeMap<String, Header>) {
        for (label, host) in &self.hosts {
            let said = || Header {
                rank: label.parse().ok(),
                host: host.clone(),
                ..Header::default()
            };
            headers.entry(label.clone()).or_insert_with(said);
        }
    }
}
