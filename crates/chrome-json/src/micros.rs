//! Microseconds as text.
//!
//! Times are written with three decimals as a rule, and a double does not hold them: the
//! sixteen digits of a time of this century leave no room for nanoseconds. So text becomes
//! whole nanoseconds and text again, and what stands behind the third decimal stays.
//!
//! ```text
//! 4314435710599.241   ->   4314435710599241 ns, 3 decimals
//! 17.5                ->   17500 ns, 1 decimal          written as 18.25: two are needed
//! 17.00012            ->   17000 ns, 5 decimals, of which "12" stays
//! 1.75e1              ->   17500 ns, and written as 17.5
//! -3.25               ->   -3250 ns, 2 decimals
//! -0.0                ->   0 ns, and written as 0
//! ```
//!
//! A number of which a sign or a digit would not come back by moving it there and back, such
//! as the last two, has no [plain form](Form::Plain), and whoever moves it keeps its text.

/// A number of microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Micros {
    /// Rounded towards zero.
    pub nanoseconds: i64,
    /// How it was written.
    pub form: Form,
}

/// How a number was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// With so many decimals, as JSON has it.
    Plain(u8),
    /// With an exponent, with more decimals than anybody needs, or not as
    /// one would write it: `+1`, `007`, `-0`.
    Other,
}

/// Decimals of nanoseconds.
const NANO: usize = 3;

/// Decimals that are kept while a number is moved: twice as many as a double has. So a
/// number that is moved never becomes much longer than it was.
const MOST_DECIMALS: usize = 32;

/// Reads a number of microseconds; `None` if the text is no number, or one beyond 64 bits.
pub fn parse(text: &[u8]) -> Option<Micros> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    let mut whole = 0_i64;
    let mut at = 0;
    while let Some(digit) = digit(digits, at) {
        let Some(next) = whole.checked_mul(10).and_then(|it| it.checked_add(digit)) else {
            return with_exponent(text);
        };
        whole = next;
        at += 1;
    }
    let Some(mut nanoseconds) = whole.checked_mul(1000) else {
        return with_exponent(text);
    };
    let mut decimals = 0;
    let is_usual = at == 1 || at > 1 && digits.first() != Some(&b'0');
    if digits.get(at) == Some(&b'.') {
        let mut worth = 100;
        while let Some(digit) = digit(digits, at + 1 + decimals) {
            nanoseconds = nanoseconds.checked_add(digit * worth)?;
            worth /= 10;
            decimals += 1;
        }
        at += 1 + decimals;
        if decimals == 0 {
            return with_exponent(text);
        }
    }
    if at < digits.len() || !is_usual {
        return with_exponent(text);
    }
    // What is not zero has its sign in the nanoseconds.
    let form = match u8::try_from(decimals) {
        Ok(plain) if decimals <= MOST_DECIMALS && !(negative && nanoseconds == 0) => {
            Form::Plain(plain)
        }
        _ => Form::Other,
    };
    let nanoseconds = if negative { -nanoseconds } else { nanoseconds };
    Some(Micros { nanoseconds, form })
}

impl Micros {
    /// The form of a number that is moved to so many nanoseconds. Digits beyond nanoseconds
    /// count away from zero, so they mean something else on its other side.
    pub fn form_at(self, nanoseconds: i64) -> Form {
        let crosses = (self.nanoseconds < 0) != (nanoseconds < 0);
        match self.form {
            Form::Plain(decimals) if crosses && usize::from(decimals) > NANO => Form::Other,
            form => form,
        }
    }
}

#[inline]
fn digit(digits: &[u8], at: usize) -> Option<i64> {
    let byte = *digits.get(at)?;
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

/// A number in any form that is found in the wild.
#[cold]
fn with_exponent(text: &[u8]) -> Option<Micros> {
    let text = std::str::from_utf8(text).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(decimals.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Of all digits those before this place are whole nanoseconds.
    let place = i64::from(exponent) + NANO as i64 + whole.len() as i64;
    let mut nanoseconds = 0_i64;
    // Behind the first that is not zero 64 bits are full after twenty more.
    let zeros = digits.iter().take_while(|it| **it == b'0').count();
    let places = if zeros == digits.len() { 0 } else { place };
    for at in zeros as i64..places {
        let digit = usize::try_from(at).ok().and_then(|at| digits.get(at));
        let digit = digit.map_or(0, |digit| i64::from(digit - b'0'));
        nanoseconds = nanoseconds.checked_mul(10)?.checked_add(digit)?;
    }
    Some(Micros {
        nanoseconds: if negative { -nanoseconds } else { nanoseconds },
        form: Form::Other,
    })
}

/// Appends so many nanoseconds, written like `original`: with as many decimals, unless
/// more are needed, and with those beyond nanoseconds as they were.
pub fn write(out: &mut Vec<u8>, nanoseconds: i64, form: Form, original: &[u8]) {
    let decimals = match form {
        Form::Plain(decimals) => usize::from(decimals),
        Form::Other => 0,
    };
    if nanoseconds < 0 {
        out.push(b'-');
    }
    let magnitude = nanoseconds.unsigned_abs();
    push_number(out, magnitude / 1000);
    let below = magnitude % 1000;
    let needed = match below {
        0 => 0,
        _ if below.is_multiple_of(100) => 1,
        _ if below.is_multiple_of(10) => 2,
        _ => NANO,
    };
    let count = decimals.max(needed).min(NANO);
    if count > 0 {
        let digits = [below / 100, below / 10 % 10, below % 10].map(|it| b'0' + it as u8);
        out.push(b'.');
        out.extend_from_slice(digits.get(..count).unwrap_or_default());
    }
    if decimals > NANO {
        let kept = original.len().saturating_sub(decimals - NANO);
        out.extend_from_slice(original.get(kept..).unwrap_or_default());
    }
}

/// Appends so many nanoseconds with as many decimals as that takes.
pub fn append(out: &mut Vec<u8>, nanoseconds: i64) {
    write(out, nanoseconds, Form::Plain(0), b"0");
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + (number % 10) as u8;
        }
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shifted(text: &str, by: i64) -> String {
        let was = parse(text.as_bytes()).unwrap();
        let nanoseconds = was.nanoseconds + by;
        let mut out = Vec::new();
        let form = was.form_at(nanoseconds);
        write(&mut out, nanoseconds, form, text.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn zeros_before_and_after_cost_nothing() {
        let zeros = "0".repeat(60);
        let long = format!("0.{zeros}12e{}", zeros.len() + 2);
        assert_eq!(parse(long.as_bytes()).unwrap().nanoseconds, 12_000);
        assert_eq!(parse(b"1e2000000000"), None);
        assert_eq!(parse(b"1e-2000000000").unwrap().nanoseconds, 0);
    }

    #[test]
    fn numbers_keep_their_form() {
        for (text, by, new) in [
            ("4314435710599.241", 3_500_000, "4314435714099.241"),
            ("17.5", 750, "18.25"),
            ("17.50", 500, "18.00"),
            ("17", 1000, "18"),
            ("17", 1, "17.001"),
            ("17.00012", -1000, "16.00012"),
            ("1.75e1", 500, "18"),
            ("175E-1", 0, "17.5"),
            ("-3.25", 4000, "0.75"),
            ("0.001", -2, "-0.001"),
            ("1.7e15", 1, "1700000000000000.001"),
            ("-0.0", 0, "0"),
            ("-0.0", 5, "0.005"),
            ("-0.0004", 5, "0.005"),
            ("-0.0054", 6, "0.001"),
            ("-7.00012", -1000, "-8.00012"),
            ("0.0054", -6, "-0.001"),
            ("0e2000000000", 5, "0.005"),
        ] {
            assert_eq!(shifted(text, by), new, "{text}");
        }
        for none in [
            "",
            "-",
            "1.2.3",
            "true",
            "1e",
            "\"5\"",
            "99999999999999999999",
            "1e30",
        ] {
            assert_eq!(parse(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn nanoseconds_become_microseconds() {
        for (nanoseconds, text) in [
            (0, "0"),
            (1_500, "1.5"),
            (1_234_567, "1234.567"),
            (7, "0.007"),
        ] {
            let mut out = Vec::new();
            append(&mut out, nanoseconds);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_not_moved_stays(whole in 0_i64..1 << 50, decimals in "(\\.[0-9]{1,12})?") {
            let text = format!("{whole}{decimals}");
            prop_assert_eq!(shifted(&text, 0), text);
        }

        #[test]
        fn moving_there_and_back_is_nothing(
            whole in 1_i64..1 << 40, decimals in "\\.[0-9]{3,9}", by in -999_i64..1 << 30,
        ) {
            let text = format!("{whole}{decimals}");
            prop_assert_eq!(shifted(&shifted(&text, by), -by), text);
        }
    }
}
