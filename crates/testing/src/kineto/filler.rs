//! The events that a computation records of itself: a layer of a network again and again.
//!
//! The first half of a computation are the forward pass, the second the backward
//! pass; arrows lead from each layer to its counterpart.

use std::io::{self, Write};

use super::{
    arguments::of_operator,
    events::{Events, Lane},
    happened::Span,
};

/// The writer of the events that fill a computation of one rank.
pub(super) struct Filler {
    pub(super) layers: u64,
    /// Numbers given away to operators and launches so far.
    pub(super) external: u64,
    pub(super) correlation: u64,
    pub(super) arrows: u64,
}

/// Operators of a layer: name, arguments, and from where to where in 100 parts.
const OPERATORS: [(&str, &str, u64, u64); 5] = [
    (
        "aten::linear",
        r#""Concrete Inputs": ["", "", ""], "Input type": ["float", "float", "float"], "Input Strides": [[512, 1], [512, 1], [1]], "Input Dims": [[64, 512], [512, 512], [512]]"#,
        0,
        98,
    ),
    (
        "aten::t",
        r#""Concrete Inputs": [""], "Input type": ["float"], "Input Strides": [[512, 1]], "Input Dims": [[512, 512]]"#,
        5,
        22,
    ),
    (
        "aten::transpose",
        r#""Concrete Inputs": ["", "0", "1"], "Input type": ["float", "Scalar", "Scalar"], "Input Strides": [[512, 1], [], []], "Input Dims": [[512, 512], [], []]"#,
        8,
        20,
    ),
    (
        "aten::as_strided",
        r#""Concrete Inputs": ["", "[512, 512]", "[1, 512]", ""], "Input type": ["float", "ScalarList", "ScalarList", ""], "Input Strides": [[512, 1], [], [], []], "Input Dims": [[512, 512], [], [], []]"#,
        12,
        16,
    ),
    (
        "aten::addmm",
        r#""Concrete Inputs": ["", "", "", "1", "1"], "Input type": ["float", "float", "float", "Scalar", "Scalar"], "Input Strides": [[1], [512, 1], [1, 512], [], []], "Input Dims": [[512], [64, 512], [512, 512], [], []]"#,
        30,
        95,
    ),
];

/// When in a layer its kernel is launched.
const LAUNCH: (u64, u64) = (31, 34);
const KERNEL: &str = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)";

/// How many nanoseconds before the end of an iteration all is launched.
const RETURNING: u64 = 500;

/// A kernel that a computation launched.
pub(super) struct Launched {
    correlation: u64,
    external: u64,
    span: Span,
}

impl Filler {
    pub(super) fn next_external(&mut self) -> u64 {
        self.external += 1;
        self.external
    }

    pub(super) fn next_correlation(&mut self) -> u64 {
        self.correlation += 1;
        self.correlation
    }

    /// The main thread of a process computes.
    pub(super) fn host<W: Write>(
        &mut self,
        events: &mut Events<'_, W>,
        pid: u32,
        host: Span,
        device: Option<Span>,
        launched: &mut Vec<Launched>,
    ) -> io::Result<()> {
        let first_arrow = self.arrows;
        let (layers, half) = (self.layers, self.layers / 2);
        for layer in 0..layers {
            let part = |span: Span| Span {
                begin: span.part(layer, layers),
                end: span.part(layer + 1, layers),
            };
            let span = part(host);
            for (name, arguments, from, to) in OPERATORS {
                let external = self.next_external();
                let span = Span {
                    begin: span.part(from, 100),
                    end: span.part(to, 100),
                };
                let arguments = of_operator(external, arguments);
                events.complete("cpu_op", name, Lane::main(&pid), span, &arguments)?;
            }
            if half > 0 && layer < 2 * half {
                let phase = if layer < half { 's' } else { 'f' };
                // The last layer forward is the first backward.
                let depth = layer.min(2 * half - 1 - layer);
                let id = first_arrow + depth + 1;
                events.flow(phase, id, "fwdbwd", Lane::main(&pid), span.begin)?;
            }
            if let Some(device) = device {
                let launch = Span {
                    begin: span.part(LAUNCH.0, 100),
                    end: span.part(LAUNCH.1, 100),
                };
                let external = self.external;
                let correlation = self.launch(events, pid, launch, external)?;
                // No kernel begins before its launch is over.
                let begin = part(device).begin.max(launch.end);
                launched.push(Launched {
                    correlation,
                    external,
                    span: Span {
                        begin,
                        end: part(device).end.max(begin + 1),
                    },
                });
            }
        }
        self.arrows += half;
        Ok(())
    }

    /// The main thread launches a graph; the number of the launch.
    pub(super) fn launch_graph<W: Write>(
        &mut self,
        events: &mut Events<'_, W>,
        pid: u32,
        span: Span,
    ) -> io::Result<u64> {
        let correlation = self.next_correlation();
        let arguments = format!(r#""cbid": 311, "correlation": {correlation}"#);
        let (category, name) = ("cuda_runtime", "cudaGraphLaunch");
        events.complete(category, name, Lane::main(&pid), span, &arguments)?;
        Ok(correlation)
    }

    /// The main thread has waited for its device until then, the last that it does in an
    /// iteration.
    pub(super) fn synchronize<W: Write>(
        &mut self,
        events: &mut Events<'_, W>,
        pid: u32,
        end: u64,
    ) -> io::Result<()> {
        let correlation = self.next_correlation();
        let arguments = format!(r#""cbid": 165, "correlation": {correlation}"#);
        let (category, name) = ("cuda_runtime", "cudaDeviceSynchronize");
        let span = Span {
            begin: end - RETURNING,
            end,
        };
        events.complete(category, name, Lane::main(&pid), span, &arguments)?;
        Ok(())
    }

    /// The main thread launches a kernel; the number of the launch.
    pub(super) fn launch<W: Write>(
        &mut self,
        events: &mut Events<'_, W>,
        pid: u32,
        span: Span,
        external: u64,
    ) -> io::Result<u64> {
        let correlation = self.next_correlation();
        let arguments =
            format!(r#""External id": {external},"cbid": 211, "correlation": {correlation}"#);
        let (category, name) = ("cuda_runtime", "cudaLaunchKernel");
        events.complete(category, name, Lane::main(&pid), span, &arguments)?;
        events.flow('s', correlation, "ac2g", Lane::main(&pid), span.begin)?;
        Ok(correlation)
    }
}

/// The kernels that computations launched, on a stream of a device.
pub(super) fn kernels<W: Write>(
    events: &mut Events<'_, W>,
    device: u32,
    stream: u32,
    launched: &[Launched],
) -> io::Result<()> {
    let lane = Lane {
        pid: &device,
        tid: &stream,
    };
    for it in launched {
        let (external, correlation) = (it.external, it.correlation);
        let arguments = format!(
            r#""External id": {external},"queued": 0, "device": {device}, "context": 1, "stream": {stream}, "correlation": {correlation}, "registers per thread": 16, "shared memory": 0, "blocks per SM": 1.939394, "warps per SM": 7.757576, "grid": [256, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 12"#
        );
        events.complete("kernel", KERNEL, lane, it.span, &arguments)?;
        events.flow('f', correlation, "ac2g", lane, it.span.begin)?;
    }
    Ok(())
}
