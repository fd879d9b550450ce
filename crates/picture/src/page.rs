//! One HTML file that needs nothing else.
//!
//! The page is made by its own script from two pieces of data that lie in it: the report,
//! as `--json` writes it, and the [`Picture`](crate::Picture). So the numbers on it are
//! those of the report. The script writes every name as text, never as markup, and inside
//! of the data no `<` is left: a region called `</script>` stays a name.
//!
//! Lists of the report that grow with the trace (its clocks, say) are cut for the page,
//! and the page says so.

use serde::Serialize;
use serde_json::Value;

use crate::Picture;

/// The mark of such a page, within its first 100 bytes.
pub const MARK: &str = "<!-- a report of retime -->";

/// Entries of a list of the report that a page holds.
const MOST: usize = 300;

const FRAME: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/page.css");
/// In this order: each uses what those before it define.
const SCRIPTS: [&str; 18] = [
    include_str!("../assets/tools.js"),
    include_str!("../assets/lanes.js"),
    include_str!("../assets/story.js"),
    include_str!("../assets/views.js"),
    include_str!("../assets/rows.js"),
    include_str!("../assets/pinned.js"),
    include_str!("../assets/overview.js"),
    include_str!("../assets/address.js"),
    include_str!("../assets/live.js"),
    include_str!("../assets/lines.js"),
    include_str!("../assets/bars.js"),
    include_str!("../assets/painter.js"),
    include_str!("../assets/spacetime.js"),
    include_str!("../assets/charts.js"),
    include_str!("../assets/clocks.js"),
    include_str!("../assets/matrix.js"),
    include_str!("../assets/waits.js"),
    include_str!("../assets/main.js"),
];

/// The data that a page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Page<'a> {
    /// The title of the window in the browser.
    pub title: String,
    /// The command as it was given.
    pub command: String,
    /// The version of retime.
    pub version: &'static str,
    /// The report, whichever it is.
    pub report: Value,
    /// The outcome of the command, in a sentence.
    pub outcome: String,
    /// The picture of the trace, if it was looked at.
    pub picture: Option<&'a Picture>,
    /// True if it is served by somebody who answers `view?from=FROM&to=TO&rows=0-63,70` with a
    /// [`View`](crate::View) of that stretch and these rows.
    pub live: bool,
    /// True if it shows a [first look](crate::FirstLook), and whoever serves it answers `state`
    /// with `{"complete": true}` once there is a page with all of it at the same address.
    pub first: bool,
}

impl Page<'_> {
    /// The file.
    pub fn html(mut self) -> Result<String, serde_json::Error> {
        cut(&mut self.report);
        let data = serde_json::to_string(&self)?.replace('<', "\\u003c");
        let mut html = String::with_capacity(data.len() + (1 << 17));
        let parts = [
            ("TITLE", escaped(&self.title)),
            ("STYLE", STYLE.to_owned()),
            ("DATA", data),
            ("SCRIPT", SCRIPTS.concat()),
        ];
        // What is filled in is not looked at again.
        html.push_str("<!DOCTYPE html>\n");
        html.push_str(MARK);
        let mut rest = FRAME;
        for (name, text) in parts {
            let mark = format!("{{{{{name}}}}}");
            let (before, after) = rest.split_once(&mark).unwrap_or((rest, ""));
            html.push_str(before);
            html.push_str(&text);
            rest = after;
        }
        html.push_str(rest);
        Ok(html)
    }
}

/// Shortens long lists; the first of what was left out says how many there were.
fn cut(value: &mut Value) {
    match value {
        Value::Array(list) => {
            let all = list.len();
            if all > MOST {
                list.truncate(MOST);
                list.push(Value::from(format!("and {} more", all - MOST)));
            }
            list.iter_mut().for_each(cut);
        }
        Value::Object(fields) => fields.values_mut().for_each(cut),
        _ => {}
    }
}

/// Escapes it to be text of an element.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '<' => "&lt;".to_owned(),
        '&' => "&amp;".to_owned(),
        _ => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_cannot_leave_the_data() {
        let name = "</script><img onerror=alert(1)>{{SCRIPT}}";
        let page = Page {
            title: name.into(),
            command: name.into(),
            version: "1",
            report: json!({ "warnings": [name], "list": vec![1; 2000] }),
            outcome: String::new(),
            picture: None,
            live: false,
            first: false,
        };
        let html = page.html().unwrap();
        assert!(!html.contains("<img"), "{html}");
        assert_eq!(html.matches("</script>").count(), 2);
        let data = html.split_once("id=\"data\">").unwrap().1;
        let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        assert_eq!(data["report"]["warnings"][0], name);
        assert_eq!(data["report"]["list"].as_array().unwrap().len(), 301);
        assert_eq!(data["report"]["list"][300], "and 1700 more");
    }
}
