//! The options of `retime merge`.

use std::path::{Path, PathBuf};

use clap::Args;
use retime::printable_path;
use retime_merge::MergedKind;

use crate::args::{OffsetsOutArgs, SolvingArgs};
use crate::error::CliError;

#[derive(Debug, Args)]
#[command(
    after_help = "docs/MERGE.md says what becomes of what. Exit codes: 0 success; 1 dependencies are \
    still reversed; 2 usage, input or system error; 3 as 0, but nothing, or fewer than half, of \
    what the traces record of communication could be used; 130 interrupted."
)]
pub(crate) struct MergeArgs {
    /// The profiles of a job, in Chrome's JSON or of Perfetto: a
    /// directory of them, or the files of its ranks, several of either; into *.pftrace also
    /// traces of other formats
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The file to write: *.pftrace for Perfetto, *.json for Chrome's format, either with
    /// .gz behind it; *.tar for an archive of the corrected files with the manifest that
    /// Perfetto 58 reads; - for standard output (packets). Must not exist
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "offsets_out"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Replace FILE if it exists and was merged by retime; and write what leaves more
    /// dependencies reversed than the recording has, or cannot be right
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the manifest alone, for an archive of the files as they are: one constant offset
    /// for each, and what that leaves of drift is said
    #[arg(long, requires = "output")]
    pub(crate) manifest_only: bool,
    #[command(flatten)]
    pub(crate) offsets: OffsetsOutArgs,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
}

/// The kind of file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeOutput {
    /// One trace.
    Trace {
        kind: MergedKind,
        is_compressed: bool,
    },
    /// An archive of the corrected files.
    Archive,
    /// The manifest of an archive of the files as they are.
    Manifest,
}

impl MergeOutput {
    /// True if it holds the files at corrected times.
    pub(super) fn has_copies(self) -> bool {
        !matches!(self, Self::Manifest)
    }

    /// True if it holds the events of traces whose files no viewer reads.
    pub(super) fn takes_events(self) -> bool {
        let perfetto = MergedKind::Perfetto;
        matches!(self, Self::Trace { kind, .. } if kind == perfetto)
    }
}

impl MergeArgs {
    /// Refuses a truth of which nobody would hear: the lines that are printed say nothing of it.
    pub(super) fn refuse_untold_truth(&self) -> Result<(), CliError> {
        let SolvingArgs { model, run, .. } = &self.solving;
        if model.truth.is_some() && run.json.is_none() && run.html.is_none() {
            let message = "--truth has no part in merge without --json or --html, which tell of it";
            return Err(CliError::Usage(message.into()));
        }
        Ok(())
    }

    /// The file to write, if it is not standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        let output = self.output.as_deref();
        output.filter(|it| it.as_os_str() != "-")
    }

    /// The kind of file to write, by the ending of its name; nothing where only offsets are
    /// asked for.
    pub(super) fn written(&self) -> Result<Option<MergeOutput>, CliError> {
        let Some(output) = &self.output else {
            return Ok(None);
        };
        if self.manifest_only {
            return Ok(Some(MergeOutput::Manifest));
        }
        let is_compressed = output.extension().is_some_and(|it| it == "gz");
        let plain = if is_compressed {
            output.with_extension("")
        } else {
            output.clone()
        };
        let trace = |kind| MergeOutput::Trace {
            kind,
            is_compressed,
        };
        let ending = plain.extension().and_then(|it| it.to_str());
        let found = match ending {
            Some("pftrace" | "perfetto-trace" | "perfetto") => trace(MergedKind::Perfetto),
            None if plain.extension().is_none() => trace(MergedKind::Perfetto),
            Some("json") => trace(MergedKind::Chrome),
            Some("tar") if !is_compressed => MergeOutput::Archive,
            _ => {
                return Err(CliError::Usage(format!(
                    "{}: the ending says no kind of file: .pftrace is Perfetto's, .json Chrome's, \
                     each also with .gz behind it, and .tar an archive of the corrected files",
                    printable_path(output)
                )));
            }
        };
        Ok(Some(found))
    }
}
