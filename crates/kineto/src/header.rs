//! The statements of a file about itself, beside its events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Keys of the outermost object that say it.
pub(crate) const KEYS: [&[u8]; 3] = [b"baseTimeNanoseconds", JOB.as_bytes(), HOST.as_bytes()];

const JOB: &str = "distributedInfo";
const HOST: &str = "host_name";

/// The statements of a file about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Nanoseconds at which the times of its events begin to count.
    pub(crate) base: i64,
    /// The rank of the process that wrote it; only files of a distributed job have one.
    pub(crate) rank: Option<u32>,
    /// How many ranks the job has.
    pub(crate) world_size: Option<u32>,
    /// The process groups that it belongs to, in the order in which they were made.
    pub(crate) groups: Vec<HeaderGroup>,
    /// How many groups were made in the whole job.
    pub(crate) count: Option<usize>,
    /// True if it lists only the groups that recorded kernels name.
    pub(crate) is_of_kernels: bool,
    /// The backend of groups that do not say theirs.
    pub(crate) runs: Runs,
    /// The purposes of these groups, where they are said, with their members.
    pub(crate) purposes: Vec<HeaderGroup>,
    /// The host it ran on.
    pub(crate) host: Option<String>,
    /// True if that is a name that stands for a host which nothing says.
    pub(crate) is_host_unsaid: bool,
    /// All that it says of its job, as JSON.
    pub(crate) job: Option<String>,
}

/// A process group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct HeaderGroup {
    pub(crate) name: String,
    /// The ranks of its members, by their rank in it; empty if they are not said.
    pub(crate) ranks: Vec<u32>,
    pub(crate) runs: Runs,
}

/// The backends of a process group, as far as gloo is concerned.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) enum Runs {
    /// Gloo for all devices.
    Gloo,
    /// Gloo for some devices, and other libraries for others.
    GlooAndOthers,
    /// Other libraries for all devices.
    Others,
    #[default]
    Unsaid,
}

/// Libraries that never run gloo below, as PyTorch and those who extend it call them.
const OTHERS: [&str; 9] = [
    "nccl", "mpi", "ucc", "xccl", "hccl", "ccl", "mccl", "cncl", "fake",
];

impl Runs {
    /// Reads a configuration: a library for all devices, `gloo`, or one for each,
    /// `cpu:gloo,cuda:nccl`.
    fn of(configuration: Option<&Value>) -> Self {
        let text = configuration.and_then(Value::as_str).unwrap_or_default();
        let libraries = text.split(',').map(|it| {
            let library = it.rsplit(':').next().unwrap_or(it);
            library.trim().to_ascii_lowercase()
        });
        let libraries: Vec<String> = libraries.collect();
        if libraries.iter().all(|it| it == "gloo") {
            Self::Gloo
        } else if libraries.iter().any(|it| it == "gloo") {
            Self::GlooAndOthers
        } else if libraries.iter().all(|it| OTHERS.contains(&&**it)) {
            Self::Others
        } else {
            Self::Unsaid
        }
    }
}

impl Header {
    /// Takes up the value of one of the [`KEYS`]. What cannot be understood is as if it
    /// were not said, but for the time from which all others count.
    pub(crate) fn take(&mut self, key: &[u8], value: &[u8]) -> Result<(), &'static str> {
        self.take_value(key, &serde_json::from_slice(value).unwrap_or_default())
    }

    fn take_value(&mut self, key: &[u8], value: &Value) -> Result<(), &'static str> {
        match key {
            b"baseTimeNanoseconds" => {
                let base = value.as_i64();
                self.base = base.ok_or("baseTimeNanoseconds is no whole number of 64 bits")?;
            }
            b"host_name" => self.host = value.as_str().map(str::to_owned),
            _ => {
                self.job = value.is_object().then(|| value.to_string());
                self.rank = number(value.get("rank"));
                self.world_size = number(value.get("world_size"));
                let groups = value.get("pg_config").and_then(Value::as_array);
                let groups = || groups.into_iter().flatten();
                self.groups = groups().filter_map(|it| group(it, "pg_name")).collect();
                self.purposes = groups().filter_map(|it| group(it, "pg_desc")).collect();
                self.count = number(value.get("pg_count"));
                self.runs = Runs::of(value.get("backend"));
                // A profile that was asked for from outside has no header of the program: Kineto
                // makes one of the kernels, and leaves this open.
                let version = value.get("nccl_version").and_then(Value::as_str);
                self.is_of_kernels = version == Some("unknown");
                // Groups are called by numbers, counted as they are made.
                if self.groups.iter().all(|it| it.name.parse::<u64>().is_ok()) {
                    self.groups.sort_by_key(|it| it.name.parse::<u64>().ok());
                }
            }
        }
        Ok(())
    }

    /// All that it says of job and host, as an object of JSON, from which [`Self::of_rank`] has
    /// it back; nothing if it says neither.
    pub(crate) fn said(&self) -> Option<String> {
        let job = self.job.as_deref().map(|it| format!("{JOB:?}:{it}"));
        let host = self.said_host().map(|it| Value::String(it.to_owned()));
        let host = host.map(|it| format!("{HOST:?}:{it}"));
        let said: Vec<String> = job.into_iter().chain(host).collect();
        (!said.is_empty()).then(|| format!("{{{}}}", said.join(",")))
    }

    /// The host it ran on, if it says that.
    pub(crate) fn said_host(&self) -> Option<&str> {
        self.host.as_deref().filter(|_| !self.is_host_unsaid)
    }

    /// The statements of a file of several ranks about one of them.
    pub(crate) fn of_rank(said: &Value) -> Self {
        let mut header = Self::default();
        for key in [JOB, HOST] {
            if let Some(value) = said.get(key) {
                // Only a base can be wrong.
                let _ = header.take_value(key.as_bytes(), value);
            }
        }
        header
    }

    /// Forgets what holds for one rank only, as a file is of several.
    pub(crate) fn of_several(&mut self) {
        *self = Self {
            base: self.base,
            ..Self::default()
        };
    }

    /// True if nothing says that anything but gloo is run.
    pub(crate) fn runs_gloo_alone(&self) -> bool {
        let is_gloo = |it: Runs| match it {
            Runs::Gloo => true,
            Runs::Unsaid => matches!(self.runs, Runs::Gloo | Runs::Unsaid),
            Runs::GlooAndOthers | Runs::Others => false,
        };
        is_gloo(self.runs) && self.groups.iter().all(|it| is_gloo(it.runs))
    }

    /// True if there can be more groups than it lists.
    pub(crate) fn lacks_groups(&self) -> bool {
        self.is_of_kernels || self.count.is_some_and(|it| it > self.groups.len())
    }

    /// The ranks of a group of that name.
    pub(crate) fn ranks(&self, group: &str) -> Option<&[u32]> {
        let found = self.groups.iter().find(|it| it.name == group)?;
        (!found.ranks.is_empty()).then_some(&*found.ranks)
    }
}

/// A number, be it written as one or as text.
pub(crate) fn number<T: TryFrom<u64> + std::str::FromStr>(value: Option<&Value>) -> Option<T> {
    match value? {
        Value::Number(number) => T::try_from(number.as_u64()?).ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A value as text, whatever it is.
pub(crate) fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A group, called by what a key says.
fn group(value: &Value, key: &str) -> Option<HeaderGroup> {
    let name = value.get(key)?.as_str()?.to_owned();
    let ranks = match value.get("ranks") {
        Some(Value::Array(ranks)) => ranks.iter().map(|it| number(Some(it))).collect(),
        Some(Value::String(text)) => rank_list(text),
        _ => None,
    };
    Some(HeaderGroup {
        name,
        ranks: ranks.unwrap_or_default(),
        runs: Runs::of(value.get("backend_config")),
    })
}

/// Ranks as text, `[0, 1, 2]`; nothing if some are left out, as in a long list.
pub(crate) fn rank_list(text: &str) -> Option<Vec<u32>> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_described() {
        let mut header = Header::default();
        let info = br#"{"backend": "nccl", "rank": "3", "world_size": 8, "pg_config": [
            {"pg_name": "0", "ranks": [0, 1, 2, 3, 4, 5, 6, 7]},
            {"pg_name": "5", "pg_desc": "mesh_tp", "ranks": "[2, 3]"},
            {"pg_name": "6", "ranks": "[0, 1, ..., 7]"},
            {"no name": 1}]}"#;
        header.take(b"distributedInfo", info).unwrap();
        header.take(b"host_name", br#""node\u0031""#).unwrap();
        header
            .take(b"baseTimeNanoseconds", b"1790857026000000000")
            .unwrap();
        assert_eq!((header.rank, header.world_size), (Some(3), Some(8)));
        assert_eq!(header.host.as_deref(), Some("node1"));
        assert_eq!(header.ranks("5"), Some(&[2, 3][..]));
        assert_eq!((header.ranks("6"), header.ranks("7")), (None, None));
        assert_eq!(header.groups.len(), 3);
        let purpose = HeaderGroup {
            name: "mesh_tp".to_owned(),
            ranks: vec![2, 3],
            runs: Runs::Unsaid,
        };
        assert_eq!(header.purposes, [purpose]);
        assert!(!header.lacks_groups());
        let more = br#"{"pg_count": 2, "pg_config": [{"pg_name": "0", "ranks": [0]}]}"#;
        header.take(b"distributedInfo", more).unwrap();
        assert!(header.lacks_groups());
        let of_kernels = br#"{"nccl_version": "unknown", "pg_config": []}"#;
        header.take(b"distributedInfo", of_kernels).unwrap();
        assert!(header.lacks_groups());
        assert!(header.take(b"baseTimeNanoseconds", b"1.5").is_err());
    }

    #[test]
    fn configurations_say_what_groups_run() {
        let runs = |it: &str| Runs::of(Some(&Value::from(it)));
        for gloo in ["gloo", "cpu:gloo,cuda:gloo", "CPU:Gloo"] {
            assert_eq!(runs(gloo), Runs::Gloo, "{gloo}");
        }
        assert_eq!(runs("cpu:gloo,cuda:nccl"), Runs::GlooAndOthers);
        for other in ["nccl", "cuda:nccl", "cpu:nccl,cuda:nccl", "xpu:xccl"] {
            assert_eq!(runs(other), Runs::Others, "{other}");
        }
        for unsaid in ["", "undefined", "cuda:nccl,cpu:own"] {
            assert_eq!(runs(unsaid), Runs::Unsaid, "{unsaid}");
        }
        assert_eq!(Runs::of(None), Runs::Unsaid);
    }

    #[test]
    fn what_is_said_of_a_rank_can_be_said_elsewhere() {
        let mut header = Header::default();
        assert_eq!(header.said(), None);
        let info = br#"{"rank": 3, "world_size": 8, "pg_count": 3, "pg_config": [
            {"pg_name": "0", "pg_desc": "mesh_tp", "ranks": [2, 3]}]}"#;
        header.take(b"distributedInfo", info).unwrap();
        header.take(b"host_name", br#""a \" host""#).unwrap();
        let said = serde_json::from_str(&header.said().unwrap()).unwrap();
        assert_eq!(Header::of_rank(&said), header);
        assert_eq!(Header::of_rank(&Value::Null), Header::default());
    }
}
