//! The live demonstration, shortly.

use std::path::Path;
use std::process::Command;

use crate::common::RETIME;

#[test]
fn messages_of_running_processes_arrive_after_they_were_sent() {
    let live = Path::new(RETIME).with_file_name("examples").join("live");
    if !live.exists() {
        // Not built where only this test is.
        let build = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--package",
                "retime-cli",
                "--example",
                "live",
            ])
            .status();
        assert!(build.unwrap().success());
    }
    let out = Command::new(live).arg("0.7").arg(RETIME).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{text}{errors}");
    let last = text.lines().rev().nth(1).unwrap();
    let counts: Vec<u64> = last
        .split_whitespace()
        .map_while(|it| it.parse().ok())
        .collect();
    let [events, messages, recorded, corrected, _age] = counts[..] else {
        unreachable!("{last}");
    };
    assert!(events > 100 && messages > 20, "{text}");
    assert!(recorded > 0 && corrected == 0, "{text}");
}
