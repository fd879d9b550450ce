//! Command lines: every option with its text is taken or refused, and never more.

pub(super) fn command_lines() -> Vec<Vec<u8>> {
    [
        "check t --min-delay 2us --clocks node --drift-bound 100ppm --max-memory 2GB",
        "correct t -o out --method clc --gamma-max 0.99 --amortization 0.5% --from 10s --to 20s",
        "correct t -o out --method min-max --intervals 5 --pairs regression --controller 1997 --backward",
        "correct t -o out --max-rate-difference 1% --reference first --threads 2 --always",
        "simulate halo -o out --grid 2x2 --events 1e6 --offset 5us --drift 20ppm",
        "stream --delay 5ms --ticks-per-second 1000 --min-delay 3ticks",
        "order t --format csv --input-format otf2",
        "compare t --truth u --clocks process",
    ]
    .map(|line| line.as_bytes().to_vec())
    .to_vec()
}

pub(super) fn check(input: &[u8]) -> String {
    let line = String::from_utf8_lossy(input);
    let words = std::iter::once("retime").chain(line.split(' '));
    match retime_cli::command().try_get_matches_from(words) {
        Ok(_) => "taken".into(),
        Err(error) => format!("refused: {:?}", error.kind()),
    }
}
