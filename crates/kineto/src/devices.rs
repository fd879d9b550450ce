//! Devices, and what leads from calls of their host to what they do, and back.
//!
//! A device does what calls of its host have started. Both carry one number ("correlation"):
//!
//! ```text
//! cudaLaunchKernel 7    on a thread    begins at 1000, ends at 1006
//! some kernel 7         on a stream    begins at 1020, ends at 1090
//! cudaMemcpy 8          on a thread    begins at 1010, ends at 1130
//! Memcpy DtoH 8         on a stream    begins at 1100, ends at 1120
//! ```
//!
//! Of each file is kept which kernels which calls started, since that says whether the clock
//! of the device was converted to that of its host (see [`early`](crate::early)), and which calls
//! waited for the device; but not of threads whose clock was set back, as stamps do not tell what had
//! been launched before such a call, nor what was after it.

use crate::astride::astride;
use crate::columns::Columns;
use crate::launch::Launches;
use crate::recorded::Recorded;

/// The calls by which a host and its devices depend on each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Driven {
    /// Calls, each with a kernel that it started, in the order of kernels.
    pub(crate) kernels: Vec<(u32, u32)>,
    /// The kernels among these that are [astride](crate::astride) a moment at which their clock was set back, in
    /// order.
    pub(crate) astride: Vec<u32>,
    /// Calls that returned once a copy of theirs to the host was over, each with the copy.
    pub(crate) copies: Vec<(u32, u32)>,
    /// Calls that returned once their device had done all that it had been asked for.
    pub(crate) waits: Vec<u32>,
}

/// Events with the numbers by which calls and what they started are known, while they are read.
#[derive(Debug, Default)]
pub(crate) struct Correlated {
    /// Kernels.
    pub(crate) kernels: Vec<(u64, u32)>,
    /// Calls that copy, and return once the copy is over where it goes to the host.
    copying: Vec<(u64, u32)>,
    /// Copies to the host.
    copies: Vec<(u64, u32)>,
    /// Calls that wait for the device, with 0 where they have no number.
    waits: Vec<(u64, u32)>,
}

/// True if events of a category are those of a device: they lie on its streams.
#[inline]
pub(crate) fn is_of_device(category: &[u8]) -> bool {
    let [b'k' | b'K' | b'g' | b'G', ..] = category else {
        return false;
    };
    let all: [&[u8]; 4] = [
        b"kernel",
        b"gpu_memcpy",
        b"gpu_memset",
        b"gpu_user_annotation",
    ];
    all.iter().any(|it| category.eq_ignore_ascii_case(it))
}

/// True if events of a category are kernels.
#[inline]
pub(crate) fn is_kernel(category: &[u8]) -> bool {
    matches!(category, [b'k' | b'K', ..]) && category.eq_ignore_ascii_case(b"kernel")
}

impl Driven {
    /// The call that started a kernel.
    pub(crate) fn launch_of(&self, kernel: u32) -> Option<u32> {
        let at = self.kernels.binary_search_by_key(&kernel, |it| it.1).ok()?;
        self.kernels.get(at).map(|it| it.0)
    }
}

impl Correlated {
    /// Takes what an event says, if it is such a call or what it started.
    #[inline]
    pub(crate) fn take(&mut self, event: &Recorded<'_>, number: u32) {
        match (event.category, event.name) {
            _ if is_kernel(event.category) => {
                let launch = event.arguments.correlation();
                self.kernels.extend(launch.map(|it| (it, number)));
            }
            (b"gpu_memcpy", name) if name.starts_with(b"Memcpy DtoH") => {
                let call = event.arguments.correlation();
                self.copies.extend(call.map(|it| (it, number)));
            }
            (_, b"cudaMemcpy" | b"hipMemcpy") => {
                let call = event.arguments.correlation();
                self.copying.extend(call.map(|it| (it, number)));
            }
            (
                _,
                b"cudaDeviceSynchronize"
                | b"cuCtxSynchronize"
                | b"hipDeviceSynchronize"
                | b"hipCtxSynchronize",
            ) => {
                let own = event.arguments.correlation();
                self.waits.push((own.unwrap_or_default(), number));
            }
            _ => {}
        }
    }

    /// All numbers, each with the event that has it.
    pub(crate) fn numbers(&mut self) -> impl Iterator<Item = &mut (u64, u32)> {
        let calls = self.copying.iter_mut().chain(&mut self.waits);
        calls.chain(&mut self.kernels).chain(&mut self.copies)
    }

    /// Joins calls with what they started, by launches that are sorted. A number that several
    /// calls have says nothing, nor does 0, which some profilers write where they know none.
    pub(crate) fn joined(mut self, launches: &Launches, columns: &Columns) -> Driven {
        let by = |calls: &Launches, started: &[(u64, u32)]| {
            let call = |&(number, event): &(u64, u32)| Some((calls.launch(number)?, event));
            let known = started.iter().filter(|it| it.0 != 0);
            known.filter_map(call).collect::<Vec<(u32, u32)>>()
        };
        let mut kernels = by(launches, &self.kernels);
        kernels.sort_unstable_by_key(|it| (it.1, it.0));
        kernels.dedup_by_key(|it| it.1);
        self.copying.sort_unstable();
        let copying = Launches {
            calls: self.copying,
            ..Launches::default()
        };
        let others = copying.calls.iter().chain(&self.waits).copied();
        let set_back = launches.set_back(others, columns);
        let is_steady = |call: &u32| !set_back.contains(&columns.track(*call));
        let mut copies = by(&copying, &self.copies);
        copies.retain(|it| is_steady(&it.0));
        let waits = self.waits.iter().map(|it| it.1).filter(is_steady).collect();
        Driven {
            kernels,
            astride: astride(&launches.calls, &self.kernels, columns),
            copies,
            waits,
        }
    }
}
