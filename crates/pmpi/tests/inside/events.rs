//! What a program has written of itself, and whether its clocks fit it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::running::retime;

/// A line that is an event.
struct Event {
    location: u64,
    time: i64,
    clock: i64,
    line: Value,
}

/// All events of a run, those of each process in their order.
pub(crate) struct Events {
    all: Vec<Event>,
    header: String,
}

/// Begins and ends of one operation.
#[derive(Default)]
struct Operation<'a> {
    begins: Vec<&'a Event>,
    ends: Vec<&'a Event>,
}

impl Event {
    /// True unless nobody waits for this begin, or this end for nobody: the command puts such
    /// events on lines between those that take part.
    fn takes_part(&self) -> bool {
        let is_root = self.line["root"] == true;
        let begins = self.line["type"] == "collective-begin";
        match self.line["class"].as_str() {
            Some("from-root") => is_root == begins,
            Some("to-root") => is_root != begins,
            _ => true,
        }
    }
}

impl Events {
    /// Those in a directory, of so many processes.
    pub(crate) fn read(directory: &Path, size: u32) -> Self {
        let header = fs::read_to_string(directory.join("header.jsonl")).unwrap();
        let mut all = Vec::new();
        for rank in 0..size {
            let path = directory.join(format!("rank.{rank}.jsonl"));
            let text = fs::read_to_string(path).unwrap();
            assert!(text.ends_with(",\"type\":\"end\"}\n"), "{text}");
            let lines = text
                .lines()
                .map(|it| serde_json::from_str::<Value>(it).unwrap());
            all.extend(lines.filter(|it| it["clock"].is_i64()).map(|line| Event {
                location: line["location"].as_u64().unwrap(),
                time: line["time"].as_i64().unwrap(),
                clock: line["clock"].as_i64().unwrap(),
                line,
            }));
        }
        Self { all, header }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Event> {
        self.all.iter().filter(move |it| it.line["type"] == kind)
    }

    /// Fails unless each effect is later than its cause by the clock that rode along; how many
    /// effects were not by the physical one.
    #[track_caller]
    pub(crate) fn reversed_but_repaired(&self) -> usize {
        for pair in self
            .all
            .windows(2)
            .filter(|it| it[0].location == it[1].location)
        {
            assert!(pair[0].time <= pair[1].time && pair[0].clock <= pair[1].clock);
        }
        assert!(self.all.iter().all(|it| it.clock >= it.time));
        let sent = self
            .of_kind("send")
            .map(|it| (it.line["message"].to_string(), it));
        let sent: BTreeMap<String, &Event> = sent.collect();
        let mut reversed = 0;
        for receive in self.of_kind("receive") {
            let send = sent[&receive.line["message"].to_string()];
            if receive.location == send.location {
                continue;
            }
            let (later, earlier) = (&receive.line, &send.line);
            assert!(receive.clock > send.clock, "{later} before {earlier}");
            reversed += usize::from(receive.time <= send.time);
        }
        self.operations().values().for_each(Operation::check);
        reversed
    }

    fn operations(&self) -> BTreeMap<String, Operation<'_>> {
        let mut operations: BTreeMap<String, Operation<'_>> = BTreeMap::new();
        for event in &self.all {
            let name = event.line["collective"].to_string();
            match event.line["type"].as_str() {
                Some("collective-begin") => operations.entry(name).or_default().begins.push(event),
                Some("collective-end") => operations.entry(name).or_default().ends.push(event),
                _ => {}
            }
        }
        operations
    }

    /// Fails unless a method of the command gives the same times as the clock that rode along.
    #[track_caller]
    pub(crate) fn assert_equal(&self, dir: &Path, options: &str) {
        let path = dir.join("merged.jsonl");
        let mut text = self.header.clone();
        for event in &self.all {
            writeln!(text, "{}", event.line).unwrap();
        }
        fs::write(&path, text).unwrap();
        let out = dir.join("corrected.jsonl");
        let _ = fs::remove_file(&out);
        let _ = fs::remove_file(dir.join("corrected.jsonl.retime"));
        let output = Command::new(retime())
            .arg("correct")
            .arg(&path)
            .arg("-o")
            .arg(&out)
            .args("--clocks location --min-delay 1tick --bounds off --always --force".split(' '))
            .args(options.split_whitespace())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{options}: {said}");
        let text = fs::read_to_string(&out).unwrap();
        let times = text.lines().skip(1).map(|it| {
            let line: Value = serde_json::from_str(it).unwrap();
            line["time"].as_i64().unwrap()
        });
        let compared = times.zip(&self.all).filter(|it| it.1.takes_part());
        for (time, event) in compared {
            assert_eq!(time, event.clock, "{options}: {}", event.line);
        }
    }
}

impl Operation<'_> {
    fn check(&self) {
        for begin in &self.begins {
            let line = &begin.line;
            assert_eq!(line["participants"], self.begins.len(), "{line}");
            for end in self.ends.iter().filter(|it| it.location != begin.location) {
                let root = |it: &&Event| it.line["root"] == true;
                let waits = match line["class"].as_str().unwrap() {
                    "all-to-all" => true,
                    "from-root" => root(begin),
                    "to-root" => root(end),
                    "scan" => line["rank"].as_u64() < end.line["rank"].as_u64(),
                    other => panic!("{other}"),
                };
                assert!(
                    !waits || end.clock > begin.clock,
                    "{} before {line}",
                    end.line
                );
            }
        }
    }
}
