//! `--html`: what the page holds. How it looks and behaves in a browser is tested in
//! `tests/browser`.

use serde_json::{Value, json};

use crate::common::{Scratch, traces};

/// The bytes that no page exceeds.
const MOST: usize = 2_000_000;

/// The data of a page.
pub(crate) fn data(scratch: &Scratch, name: &str) -> Value {
    let page = scratch.read(name);
    assert!(page.len() < MOST, "{} bytes", page.len());
    let (before, data) = page.split_once("id=\"data\">").unwrap();
    let (data, after) = data.split_once("</script>").unwrap();
    for elsewhere in ["http://", "https://", "src=", "@import", "url("] {
        let own = after.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !before.contains(elsewhere) && !own.contains(elsewhere),
            "{elsewhere}"
        );
    }
    serde_json::from_str(data).unwrap()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// The report of `--json` without what differs between two runs.
fn report(scratch: &Scratch, name: &str) -> Value {
    let mut report: Value = serde_json::from_str(&scratch.read(name)).unwrap();
    report["timing"] = Value::Null;
    report
}

#[test]
fn a_correction_is_drawn_with_the_numbers_of_its_report() {
    let scratch = Scratch::new();
    traces::recording(scratch.path());
    scratch.succeed("correct halo -o out --json report.json --html report.html -q");
    let mut page = data(&scratch, "report.html");
    page["report"]["timing"] = Value::Null;
    assert_eq!(page["report"], report(&scratch, "report.json"));
    assert_eq!(
        page["command"],
        "retime correct halo -o out --json report.json --html report.html -q"
    );
    let (picture, matching) = (&page["picture"], &page["report"]["matching"]);
    assert_eq!(picture["corrected"], true);
    assert_eq!(picture["lanes"]["shown"].as_array().unwrap().len(), 4);
    // The histogram counts every message, and finds the reversed ones left of zero.
    let bins = picture["latencies"]["bins"].as_array().unwrap();
    let sum = |row: &str| -> i64 { bins.iter().map(|bin| number(&bin[row])).sum() };
    assert_eq!(sum("recorded"), number(&matching["messages"]));
    assert_eq!(sum("corrected"), number(&matching["messages"]));
    let early = bins.iter().filter(|bin| bin["from"].as_f64() < Some(0.0));
    let reversed: i64 = early.map(|bin| number(&bin["recorded"])).sum();
    let before = &page["report"]["before"];
    assert_eq!(reversed, number(&before["messages"]["reversed"]));
    // So do the pairs.
    let cells = picture["pairs"]["cells"].as_array().unwrap();
    let reversed: i64 = cells.iter().map(|cell| number(&cell[0][3])).sum();
    assert_eq!(reversed, number(&before["reversed"]));
    // The first place shows the worst of all, and its dependency is drawn reversed.
    let view = &picture["views"][1];
    let worst = &before["worst"][0];
    assert_eq!(view["dependency"][0][0], worst["cause"]["location"]);
    let arrows = view["arrows"]["messages"].as_array().unwrap();
    let is_reversed = |it: &Value| number(&it[1][1]) < number(&it[0][1]);
    assert!(arrows.iter().any(is_reversed));
    let title = view["title"].as_str().unwrap();
    assert_eq!(title, "228 us too early: MPI Rank 2 hears from MPI Rank 1");
    assert_eq!(before["smallest_latency_ticks"], -228_167);
    let corrected = |it: &Value| number(&it[1]) + number(&it[2]);
    assert!(
        arrows
            .iter()
            .all(|it| corrected(&it[0]) <= corrected(&it[1]))
    );
}

#[test]
fn check_and_compare_draw_too_and_a_sound_trace_shows_its_middle() {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o t --ranks 4 --iterations 20 -q");
    scratch.succeed("check t-truth --html sound.html -q");
    let page = data(&scratch, "sound.html");
    assert_eq!(page["picture"]["corrected"], false);
    assert_eq!(
        page["picture"]["views"][1]["title"],
        "A stretch from the middle"
    );
    scratch.succeed("compare t --method clc --json methods.json --html methods.html -q");
    let page = data(&scratch, "methods.html");
    let methods = page["report"]["methods"].as_array().unwrap();
    let names: Vec<&Value> = methods.iter().map(|it| &it["name"]).collect();
    let listed: Value = serde_json::from_str(&scratch.read("methods.json")).unwrap();
    let listed = listed["methods"].as_array().unwrap().iter();
    assert_eq!(names, listed.map(|it| &it["name"]).collect::<Vec<_>>());
    assert!(names.len() > 2);
}

#[test]
fn a_page_stays_small_however_much_there_is() {
    let scratch = Scratch::new();
    scratch.succeed("simulate random -o t --ranks 100 --iterations 400 --no-truth -q");
    scratch.succeed("correct t -o out --method clc --html page.html -q");
    let page = data(&scratch, "page.html");
    let lanes = &page["picture"]["lanes"];
    assert_eq!(lanes["shown"].as_array().unwrap().len(), 64);
    assert_eq!(lanes["left_out"], 36);
}

#[test]
fn names_are_data() {
    let name = "</script><img src=x onerror=alert(1)>\u{1b}[31m\u{202e}&amp;";
    let scratch = Scratch::new();
    let line = |location: u32, time: u32, rest: Value| {
        let mut line = json!({ "location": location, "time": time });
        let fields = line.as_object_mut().unwrap();
        fields.extend(rest.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let lines = [
        line(0, 10, json!({ "kind": "Enter", "region": name })),
        line(0, 20, json!({ "type": "send", "to": 1 })),
        line(0, 30, json!({ "kind": "Leave", "region": name })),
        line(1, 5, json!({ "kind": "Enter", "region": "quiet" })),
        line(1, 15, json!({ "type": "receive", "from": 0 })),
        line(1, 40, json!({ "kind": "Leave", "region": "quiet" })),
    ];
    scratch.write("<script>.jsonl", &lines.concat());
    scratch
        .retime("check <script>.jsonl --html page.html -q")
        .expect_code(1);
    assert!(!scratch.read("page.html").contains("<img"));
    let page = data(&scratch, "page.html");
    assert_eq!(page["picture"]["regions"], json!(["quiet", name]));
    assert_eq!(page["report"]["trace"]["path"], "<script>.jsonl");
    // 35 ticks at location 1 in a call, the receive after 10 of them.
    let slices = &page["picture"]["views"][0]["slices"];
    assert_eq!(slices[1]["calls"], json!([0, 35, 0, 0, 0, 0, 0, 2]));
}

#[test]
fn only_a_page_is_replaced() {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o t --ranks 2 --iterations 3 --no-truth -q");
    scratch.write("notes.html", "<p>do not lose me</p>");
    let refused = scratch.retime("check t --html notes.html -q");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("notes.html: exists and is no report"),
        "{refused:?}"
    );
    assert_eq!(scratch.read("notes.html"), "<p>do not lose me</p>");
    for refused in ["t", "t/traces.otf2"] {
        let refused = scratch.retime(&format!("check t --html {refused} -q"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    let dash = scratch.retime("check t --html - -q");
    assert_eq!(dash.code, Some(2), "{dash:?}");
    let both = scratch.retime("check t --html one --json one -q");
    assert_eq!(both.code, Some(2), "{both:?}");
    for _ in 0..2 {
        scratch.retime("check t --html page.html -q").expect_code(1);
    }
    assert_eq!(scratch.entries(), ["notes.html", "page.html", "t"]);
}
