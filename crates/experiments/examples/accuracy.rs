//! Every method on every case, a line each:
//!
//!     cargo run --release -p retime-experiments --example accuracy -- [WORD...]
//!
//! With words only the cases and methods whose names contain one of them; a word
//! that no case has chooses among methods, and one that no method has among cases.

use retime_experiments::accuracy::{Size, cases, measure, methods};

#[expect(clippy::print_stdout, reason = "what an example is for")]
fn main() -> Result<(), retime_experiments::Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let cases = cases(Size::Full);
    let chosen = |names: &[&str], name: &str| {
        let known = |word: &&String| names.iter().any(|it| it.contains(word.as_str()));
        let known: Vec<_> = words.iter().filter(known).collect();
        known.is_empty() || known.iter().any(|word| name.contains(word.as_str()))
    };
    let case_names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    let methods = methods();
    let method_names: Vec<&str> = methods.iter().map(|it| it.name.as_str()).collect();
    println!(
        "{:<22}{:<26}{:>10}{:>12}{:>10}{:>10}{:>8}{:>9}",
        "case", "method", "mean us", "largest us", "plain us", "delay us", "left", "s"
    );
    for case in cases.iter().filter(|it| chosen(&case_names, it.name)) {
        let trace = case.simulate()?;
        for method in methods.iter().filter(|it| chosen(&method_names, &it.name)) {
            match measure(&trace, method)? {
                Ok(it) => println!(
                    "{:<22}{:<26}{:>10.3}{:>12.3}{:>10.3}{:>10.3}{:>8}{:>9.3}",
                    case.name,
                    method.name,
                    it.error / 1e3,
                    it.largest / 1e3,
                    it.plain / 1e3,
                    it.delay_error / 1e3,
                    it.violated,
                    it.seconds
                ),
                Err(reason) => println!("{:<22}{:<26}{reason:.80}", case.name, method.name),
            }
        }
    }
    Ok(())
}
