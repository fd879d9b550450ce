//! All ranks in one file.
//!
//! Calls are matched as if each rank had a file, with the same events. A rank is known by the
//! [label](crate::labels) of its tracks. A label that is a number is that of the rank; other
//! labels tell it if they count in one dimension only, and there is one such file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::header::Header;
use crate::matching::{self, Matching, SetBack, ShownTwice};
use crate::profile::{FileRead, Requests};

/// Which calls of all ranks belong together, by file.
pub(crate) fn matched(files: &[FileRead]) -> Matching {
    match by_rank(files) {
        Some(RankFiles { files: parts, of }) => matching::matched(&parts).by_file(of, files.len()),
        None => matching::matched(files),
    }
}

/// The stamps that clocks showed twice, each with its file and a track of the rank there.
pub(crate) fn set_back(files: &[FileRead]) -> Vec<SetBackThere> {
    let parts = by_rank(files);
    let (files, of) = match &parts {
        Some(parts) => (&*parts.files, parts.of.clone()),
        None => (files, (0..files.len()).map(|it| (it, 0)).collect()),
    };
    let all = SetBack::of(files);
    let of_part = |(part, (file, track)): (usize, (usize, u32))| {
        let own = all.of_file(part).iter();
        own.map(move |stamps| SetBackThere {
            file,
            track,
            stamps: *stamps,
        })
    };
    of.into_iter().enumerate().flat_map(of_part).collect()
}

/// Stamps that the clock of a rank showed twice.
pub(crate) struct SetBackThere {
    pub(crate) file: usize,
    /// A track of the rank in the file.
    pub(crate) track: u32,
    pub(crate) stamps: ShownTwice,
}

/// Files as if each rank had one, and where each is from: its file, and its first track there.
struct RankFiles {
    files: Vec<FileRead>,
    of: Vec<(usize, u32)>,
}

/// The calls of each rank as a file of its own; `None` where each has one.
fn by_rank(files: &[FileRead]) -> Option<RankFiles> {
    if !files.iter().any(FileRead::is_merged) {
        return None;
    }
    let (mut parts, mut of) = (Vec::new(), Vec::new());
    for (number, file) in files.iter().enumerate() {
        for part in parts_of(file, files.len() == 1) {
            let own = part.own.iter().flatten().position(|it| *it);
            of.push((number, own.map_or(0, |it| it as u32)));
            parts.push(part);
        }
    }
    Some(RankFiles { files: parts, of })
}

/// The calls of each rank in a file.
fn parts_of(file: &FileRead, is_alone: bool) -> Vec<FileRead> {
    let mut tracks: BTreeMap<Option<&str>, Vec<bool>> = BTreeMap::new();
    let is_merged = file.is_merged();
    for (number, track) in file.tracks.iter().enumerate() {
        let label = track.label.as_deref().filter(|_| is_merged);
        let own = tracks.entry(label);
        let own = own.or_insert_with(|| vec![false; file.tracks.len()]);
        if let Some(own) = own.get_mut(number) {
            *own = true;
        }
    }
    let of_label = |(label, own): (Option<&str>, Vec<bool>)| {
        let counted = label.filter(|_| is_alone);
        let counted = counted.map(|it| it.trim_start_matches(|it: char| it.is_ascii_alphabetic()));
        let number = label.and_then(|it| it.parse().ok());
        let number = number.or_else(|| counted?.parse().ok());
        let said = label.and_then(|it| file.of_ranks.get(it));
        part_of(file, said.unwrap_or(&file.header), number, own)
    };
    tracks.into_iter().map(of_label).collect()
}

/// The calls on some tracks of a file, with the header of their rank, and its number if that is
/// known elsewhere.
fn part_of(file: &FileRead, said: &Header, rank: Option<u32>, tracks: Vec<bool>) -> FileRead {
    let is_of_it = |track: u32| tracks.get(track as usize).copied().unwrap_or(false);
    let is_own = |event: u32| is_of_it(file.columns.track(event));
    let header = Header {
        base: file.header.base,
        rank: rank.or(said.rank),
        ..said.clone()
    };
    let requests = file.requests.iter().map(|(operation, requests)| {
        let own = requests.events.iter().copied();
        let roots = requests.roots.clone().into_iter();
        let requests = Requests {
            events: own.filter(|it| is_own(it.event)).collect(),
            roots: roots.filter(|it| is_of_it(it.0.0)).collect(),
            have_empty: requests.have_empty,
        };
        (*operation, requests)
    });
    let calls = file.calls.iter().filter(|it| is_own(it.event));
    let iterations = file.iterations.iter().filter(|it| is_own(it.event));
    FileRead {
        header,
        columns: Arc::clone(&file.columns),
        tracks: file.tracks.clone(),
        calls: calls.cloned().collect(),
        requests: requests.collect(),
        iterations: iterations.copied().collect(),
        own: Some(tracks),
        unseen: file.unseen.clone(),
        ..FileRead::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;
    use crate::chrome::Chrome;
    use crate::document::Document;

    /// The events of a rank, whose process has this number: it broadcasts from the root of its pair,
    /// which is another place in each.
    fn events(rank: u32, pid: u32) -> String {
        let (pair, root) = (rank / 2, rank / 2);
        let members = [2 * pair, 2 * pair + 1];
        let at = 1_000 + 10 * rank;
        let request = format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"c10d::broadcast_","pid":{pid},"tid":1,"ts":{at},"dur":5,
            "args":{{"Concrete Inputs":["","","{root}"]}}}}"#
        );
        let kernel = format!(
            r#"{{"ph":"X","cat":"kernel","name":"ncclDevKernel_Broadcast","pid":{pid},"tid":7,"ts":{at},"dur":90,
            "args":{{"Collective name":"broadcast","Seq":1,"In msg nelems":4,"Out msg nelems":4,
            "dtype":"Float","Group size":2,"Process Group Name":"{pair}",
            "Process Group Ranks":"{members:?}"}}}}"#
        );
        format!("{request},{kernel}")
    }

    fn read(text: &str) -> FileRead {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.json");
        std::fs::write(&path, text).unwrap();
        Chrome.read(&path, &()).unwrap()
    }

    #[test]
    fn each_rank_in_a_file_of_several_says_its_roots() {
        let apart = (0..4).map(|rank| {
            let (info, events) = (
                format!(r#"{{"rank":{rank},"world_size":4}}"#),
                events(rank, 1),
            );
            read(&format!(
                r#"{{"distributedInfo":{info},"traceEvents":[{events}]}}"#
            ))
        });
        let apart: Vec<FileRead> = apart.collect();
        let together = (0..4).map(|rank| {
            let pid = rank + 10;
            let name = format!(
                r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"rank {rank}: python"}}}}"#
            );
            format!("{name},{}", events(rank, pid))
        });
        let together: Vec<String> = together.collect();
        let together = [read(&format!(
            r#"{{"traceEvents":[{}]}}"#,
            together.join(",")
        ))];
        let parts = |found: &Matching| {
            let joined = found.joined.iter().flatten();
            let parts = joined.map(|it| format!("{:?}", it.part));
            parts.collect::<std::collections::BTreeSet<String>>()
        };
        let expected = matched(&apart);
        assert_eq!(parts(&expected).len(), 4);
        let found = matched(&together);
        assert!(
            found.unmatched.iter().all(BTreeMap::is_empty),
            "{:?}",
            found.unmatched
        );
        assert_eq!(parts(&found), parts(&expected));
    }

    #[test]
    fn names_of_processes_and_arguments_tell_ranks() {
        let file = |name: fn(u32) -> String, args: fn(u32) -> String| {
            let events = (0..2).map(|rank| {
                let (pid, name, more) = (rank + 10, name(rank), args(rank));
                format!(
                    r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"{name}"}}}},
                    {{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":{pid},"tid":7,"ts":{pid},
                    "dur":90,"args":{{"Collective name":"allreduce","Seq":1,"In msg nelems":4,
                    "Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]"{more}}}}}"#
                )
            });
            let events: Vec<String> = events.collect();
            read(&format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")))
        };
        let joined = |file: FileRead| matched(&[file]).joined[0].len();
        let none = |_| String::new();
        for name in [
            (|rank| format!("Rank {rank}")) as fn(u32) -> String,
            |rank| format!("Rank {rank} - GPU Stream"),
            |rank| format!("[TP0{rank}] 1234"),
        ] {
            assert_eq!(joined(file(name, none)), 2, "{}", name(0));
        }
        let python = |_| "python".to_owned();
        let ranks = |rank| format!(r#","rank":{rank}"#);
        assert_eq!(joined(file(python, ranks)), 2);
        assert_eq!(joined(file(python, none)), 0);
        // One of both is not told so.
        let one = |rank| [r#","rank":0"#, ""][rank as usize].to_owned();
        assert_eq!(joined(file(python, one)), 0);
    }

    #[test]
    fn calls_that_are_not_joined_count_for_their_rank() {
        let kernel = |rank: u32, name: &str| {
            let pid = rank + 10;
            format!(
                r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"rank {rank}: python"}}}},
                {{"ph":"X","cat":"kernel","name":"{name}","pid":{pid},"tid":7,"ts":{pid},"dur":90,
                "args":{{"Collective name":"allreduce","Seq":{rank},"In msg nelems":4,
                "Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]"}}}},
                {{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":{pid},"tid":7,
                "ts":200,"dur":90}}"#
            )
        };
        let both = [0, 1].map(|rank| kernel(rank, "ncclDevKernel_AllReduce"));
        let file = read(&format!(r#"{{"traceEvents":[{}]}}"#, both.join(",")));
        let tracks: Vec<u32> = file.unused.iter().map(|it| it.track).collect();
        assert_eq!(tracks, [0, 1], "{:?}", file.unused);
        let found = matched(&[file]);
        let lone: Vec<_> = found.left_out().collect();
        let of = |track| (0, track, "lone collective call", 1);
        assert_eq!(lone, [of(0), of(1)]);
    }
}
