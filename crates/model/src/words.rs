//! Numbers with their nouns, as messages to people have them.

/// `1 event`, `2 events`, `2 processes`, `2 dependencies`.
pub fn plural(count: u64, noun: &str) -> String {
    let (stem, ending) = match (count, noun.strip_suffix('y')) {
        (1, _) => (noun, ""),
        (_, Some(stem)) => (stem, "ies"),
        _ if noun.ends_with('s') => (noun, "es"),
        _ => (noun, "s"),
    };
    format!("{} {stem}{ending}", group_digits(count))
}

/// `1234567` as `1,234,567`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
