//! A process of the ring: works, sends to the right, receives from the left.

use std::io::{self, BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::{Failure, now};

/// A worker and its wrong clock.
struct Worker {
    location: usize,
    offset: i64,
    drift_ppm: i64,
    start: i64,
    out: io::StdoutLock<'static>,
}

/// Runs a worker, given its location, offset, drift and run time.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let [location, offset, drift, seconds] = arguments else {
        return Err("a worker takes location, offset, drift and seconds".into());
    };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut worker = Worker {
        location: location.parse()?,
        offset: offset.parse()?,
        drift_ppm: drift.parse()?,
        start: now(),
        out: io::stdout().lock(),
    };
    writeln!(worker.out, "{}", listener.local_addr()?.port())?;
    worker.out.flush()?;
    let mut port = String::new();
    io::stdin().lock().read_line(&mut port)?;
    let right = TcpStream::connect(("127.0.0.1", port.trim().parse()?))?;
    let (left, _) = listener.accept()?;
    right.set_nodelay(true)?;
    worker.start = now();
    worker.rounds(seconds.parse()?, left, right)?;
    worker.tell("\"type\":\"end\"")
}

impl Worker {
    /// Works until the time is up or a neighbour has left.
    fn rounds(
        &mut self,
        seconds: f64,
        mut left: TcpStream,
        mut right: TcpStream,
    ) -> Result<(), Failure> {
        let end = self.start + (seconds * 1e9) as i64;
        let mut round = 0_u64;
        while now() < end {
            self.event("\"region\":\"work\"")?;
            let work = 300 + (round * 7 + self.location as u64 * 13) % 17 * 40;
            thread::sleep(Duration::from_micros(work));
            let id = format!("\"{}-{round}\"", self.location);
            self.event(&format!("\"type\":\"send\",\"message\":{id}"))?;
            if right.write_all(&round.to_le_bytes()).is_err() {
                return Ok(());
            }
            let mut received = [0; 8];
            if left.read_exact(&mut received).is_err() {
                return Ok(());
            }
            let from = (self.location + crate::CLOCKS.len() - 1) % crate::CLOCKS.len();
            let id = format!("\"{from}-{}\"", u64::from_le_bytes(received));
            self.event(&format!("\"type\":\"receive\",\"message\":{id}"))?;
            self.out.flush()?;
            round += 1;
        }
        Ok(())
    }

    /// Tells an event of this moment.
    fn event(&mut self, what: &str) -> Result<(), Failure> {
        let truth = now();
        let time = truth + self.offset + (truth - self.start) * self.drift_ppm / 1_000_000;
        self.tell(&format!("\"time\":{time},{what},\"truth\":{truth}"))
    }

    fn tell(&mut self, what: &str) -> Result<(), Failure> {
        writeln!(self.out, "{{\"location\":{},{what}}}", self.location)?;
        Ok(())
    }
}
