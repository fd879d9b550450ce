//! Minimal delays from 0 to twice the true one.

#[test]
fn print() {
    for row in retime_experiments::assumed_delay::table().unwrap().rows {
        println!("{}: {}", row.quantity, row.ours);
    }
}
