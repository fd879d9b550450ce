//! The query of a request for a picture: a stretch of time, and the rows to draw; and whether it is
//! the first page that asks, which shows the trace before it is corrected.
//!
//! ```text
//! from=-5&to=70&rows=0-63,70&folded=64-69
//! from=-5&to=70&rows=0-63&page=first
//! ```
//!
//! Or the event of which is asked what became of it, `event=1:35676`.

use retime_picture::Looked;

use crate::commands::explain::EventName;

/// So many rows at most: a screen shows fewer, and there are no more to choose from.
const ROWS: usize = 1 << 14;

/// A question that a page asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The picture of a stretch of time, for one of the pages: regions and rows have other numbers
    /// on the other.
    View(Looked, PageNumber),
    /// The fate of an event.
    Explain(EventName),
}

/// One of the pages that are served at one address, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageNumber {
    First,
    Last,
}

/// The page that a query is for.
pub(super) fn page(query: &str) -> PageNumber {
    if query.split('&').any(|it| it == "page=first") {
        PageNumber::First
    } else {
        PageNumber::Last
    }
}

/// The event that a query names.
pub(super) fn event(query: &str) -> Option<EventName> {
    query.strip_prefix("event=")?.parse().ok()
}

/// The stretch of time and the rows that a query names; `None` if these are
/// none to be drawn.
pub(super) fn looked(query: &str) -> Option<Looked> {
    let value = |name: &str| {
        let mut fields = query.split('&').filter_map(|it| it.split_once('='));
        fields.find(|it| it.0 == name).map(|it| it.1)
    };
    let (from, to) = (value("from")?.parse().ok()?, value("to")?.parse().ok()?);
    // How long it is can be told, too, and a little more than that.
    let is_far = |it: i64| it.unsigned_abs() > i64::MAX.unsigned_abs() / 4;
    if from >= to || is_far(from) || is_far(to) {
        return None;
    }
    Some(Looked {
        from,
        to,
        rows: numbers(value("rows")?)?,
        folded: numbers(value("folded").unwrap_or_default())?,
    })
}

/// Numbers, and stretches of them, such as `0-63,70`, each above those before it.
fn numbers(text: &str) -> Option<Vec<usize>> {
    let mut all: Vec<usize> = Vec::new();
    for part in text.split(',').filter(|it| !it.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let is_after = all.last().is_none_or(|it| *it < first);
        if !is_after || last < first || last >= ROWS {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::{PageNumber, event, looked, numbers, page};

    #[test]
    fn a_stretch_has_two_ends_in_order() {
        let found = looked("from=-5&to=70&rows=0-2,7").unwrap();
        assert_eq!((found.from, found.to), (-5, 70));
        assert_eq!(
            (found.rows, found.folded),
            (vec![0, 1, 2, 7], Vec::<usize>::new())
        );
        let found = looked("to=7&x=1&folded=3&rows=&from=6").unwrap();
        assert_eq!((found.from, found.to), (6, 7));
        assert_eq!((found.rows, found.folded), (Vec::<usize>::new(), vec![3]));
        for refused in ["", "from=1", "from=2&to=2", "from=1.5&to=7", "from=a&to=b"] {
            assert_eq!(looked(&format!("{refused}&rows=1")), None, "{refused}");
        }
        let all = format!("from={}&to={}&rows=1", i64::MIN, i64::MAX);
        assert_eq!(looked(&all), None);
        assert_eq!(looked("from=1&to=2"), None);
        assert_eq!(page("from=1&to=2&rows=1"), PageNumber::Last);
        assert_eq!(page("from=1&to=2&rows=1&page=first"), PageNumber::First);
    }

    #[test]
    fn an_event_is_a_location_and_a_number() {
        let found = event("event=1:35676").unwrap();
        assert_eq!((found.location, found.event), (1, 35_676));
        for refused in ["", "event=", "event=1", "event=1:2&x", "event=-1:2", "1:2"] {
            assert_eq!(event(refused), None, "{refused}");
        }
    }

    #[test]
    fn numbers_rise_and_are_not_too_many() {
        assert_eq!(numbers("0-1,5"), Some(vec![0, 1, 5]));
        for refused in [
            "-1",
            "1-",
            "2-1",
            "3,3",
            "3,2",
            "x",
            "0-99999999999",
            "16384",
        ] {
            assert_eq!(numbers(refused), None, "{refused}");
        }
    }
}
