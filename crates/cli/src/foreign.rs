//! Names what lies at a path that no format recognises, and the way out.
//!
//! A file is known by its first bytes or else by the end of its name, a directory by what lies in
//! it. Only the first bytes of regular files are read, and of a large directory some names.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use retime::format::{Format, Recognition};
use retime::presence;
use retime::printable_path;

/// So many bytes show what a file is.
const HEAD: u64 = 1024;
/// So many names of a directory are looked at,
const NAMES: usize = 1000;
/// and so many directories on each level below it,
const DIRECTORIES: usize = 64;
/// down to this one: JAX writes to plugins/profile/TIME below the directory that it is given.
const LEVELS: usize = 4;

/// A kind of file that retime does not read.
struct ForeignKind {
    /// How it begins: these bytes at this place.
    magic: &'static [(usize, &'static [u8])],
    /// Ends that its name may have.
    ends: &'static [&'static str],
    what: &'static str,
    way_out: &'static str,
}

const LINES: &str = "its events can be written as JSON lines and read as these (docs/STREAM.md)";
const TABLES: &str = "traces are read as OTF2, JSON lines, Kineto, Chrome's JSON or Perfetto, so give the \
                      trace that the table is of; events that are in a table alone can be written as \
                      JSON lines (docs/STREAM.md)";
const CTF: &str = "is of a CTF trace, as LTTng writes it";
const AGAIN: &str = "record the program with Score-P, which writes OTF2";

const XSPACE: &str = "is a profile of JAX or TensorFlow in its own form (xplane); give the \
                      *.trace.json.gz that lies beside it, or record with \
                      jax.profiler.start_trace(..., create_perfetto_trace=True)";

const KINDS: &[ForeignKind] = &[
    ForeignKind {
        magic: &[(0, b"\x28\xb5\x2f\xfd")],
        ends: &[],
        what: "is packed by Zstandard",
        way_out: "unpack it first (zstd -d, an archive by tar --zstd -xf)",
    },
    ForeignKind {
        magic: &[(0, b"\xfd7zXZ\0")],
        ends: &[],
        what: "is packed by xz",
        way_out: "unpack it first (xz -d, an archive by tar -xJf)",
    },
    ForeignKind {
        magic: &[(0, b"BZh")],
        ends: &[],
        what: "is packed by bzip2",
        way_out: "unpack it first (bzip2 -d, an archive by tar -xjf)",
    },
    ForeignKind {
        magic: &[(0, b"PK\x03\x04")],
        ends: &[],
        what: "is a ZIP archive",
        way_out: "unpack it first (unzip)",
    },
    ForeignKind {
        magic: &[(257, b"ustar")],
        ends: &[],
        what: "is a tar archive",
        way_out: "unpack it first (tar -xf)",
    },
    ForeignKind {
        magic: &[],
        ends: &[".tar.gz", ".tgz"],
        what: "is a tar archive, packed by gzip",
        way_out: "unpack it first (tar -xzf)",
    },
    ForeignKind {
        magic: &[],
        ends: &[".nsys-rep", ".qdrep"],
        what: "is a report of Nsight Systems",
        way_out: "of a training job record PyTorch's profiles, or export the report (nsys export \
                  --type sqlite) and write its events as JSON lines (docs/STREAM.md)",
    },
    ForeignKind {
        magic: &[(0, b"SQLite format 3\0")],
        ends: &[],
        what: "is a SQLite database, as Nsight Systems and rocprof export them",
        way_out: LINES,
    },
    ForeignKind {
        magic: &[(0, b"PAR1")],
        ends: &[".parquet"],
        what: "is a Parquet file, as tables are written in Python (to_parquet)",
        way_out: TABLES,
    },
    ForeignKind {
        magic: &[(0, b"ARROW1\0\0")],
        ends: &[".arrow", ".feather"],
        what: "is a file of Arrow, a table",
        way_out: TABLES,
    },
    ForeignKind {
        magic: &[(0, b"#Paraver")],
        ends: &[".prv"],
        what: "is a trace of Paraver",
        way_out: LINES,
    },
    ForeignKind {
        magic: &[],
        ends: &[".elg"],
        what: "is a trace of EPILOG, as Scalasca 1 wrote it",
        way_out: AGAIN,
    },
    ForeignKind {
        magic: &[],
        ends: &[".bpv", ".vpt", ".stf"],
        what: "is a trace of VAMPIR from before OTF",
        way_out: AGAIN,
    },
    ForeignKind {
        magic: &[],
        ends: &[".otf"],
        what: "is a trace in OTF, the format before OTF2",
        way_out: AGAIN,
    },
    ForeignKind {
        magic: &[],
        ends: &[".clog2", ".slog2"],
        what: "is a trace of MPE or Jumpshot",
        way_out: AGAIN,
    },
    ForeignKind {
        magic: &[],
        ends: &[".edf", ".trc"],
        what: "is a trace in TAU's own format",
        way_out: "record again with TAU_TRACE_FORMAT=otf2",
    },
    ForeignKind {
        magic: &[],
        ends: &[".cubex", ".cube"],
        what: "is a profile: sums over calls, without the times of events",
        way_out: "record again with SCOREP_ENABLE_TRACING=true",
    },
    ForeignKind {
        magic: &[(0, b"HPCTOOLKIT")],
        ends: &[],
        what: "is of a database of HPCToolkit: samples of call stacks, without messages",
        way_out: AGAIN,
    },
    ForeignKind {
        magic: &[(0, b"\x75\xd1\x1d\x57"), (0, b"/* CTF")],
        ends: &[],
        what: CTF,
        way_out: LINES,
    },
];

impl ForeignKind {
    fn told(&self) -> String {
        format!("{}; {}", self.what, self.way_out)
    }
}

/// A text that retime does not read, by how it begins, blanks aside, in small letters.
struct ForeignText {
    begins: &'static [&'static str],
    what: &'static str,
    way_out: &'static str,
}

const TEXTS: &[ForeignText] = &[
    ForeignText {
        begins: &[
            "{\"format\": \"retime correction\"",
            "{\"format\":\"retime correction\"",
            "{\n  \"format\": \"retime correction\"",
        ],
        what: "is a correction that retime saved",
        way_out: "give the trace that it is of here; apply takes the correction first, then the trace",
    },
    ForeignText {
        begins: &["<!doctype html>\n<!-- a report of retime"],
        what: "is a page that retime wrote",
        way_out: "open it in a browser, and give the trace that it is of here",
    },
    ForeignText {
        begins: &["<!doctype html", "<html"],
        what: "is a web page",
        way_out: "perhaps the page of an error or of a login was saved in the place of the trace",
    },
    ForeignText {
        begins: &["projections-record", "projections_id", "projections id"],
        what: "is of a trace of Charm++, as Projections reads it",
        way_out: LINES,
    },
    ForeignText {
        begins: &["{\"resourcespans\"", "{ \"resourcespans\""],
        what: "holds spans of OpenTelemetry",
        way_out: LINES,
    },
    ForeignText {
        begins: &["{\"rocprofiler-sdk-tool\"", "{ \"rocprofiler-sdk-tool\""],
        what: "is what rocprofv3 writes as JSON, in a form of its own",
        way_out: "record again with --output-format pftrace or otf2, or give PyTorch's profiles",
    },
];

/// Tells what lies at a path that none of the formats recognises, and the way out, if it is known.
pub(crate) fn told(path: &Path, formats: &[&dyn Format]) -> Option<String> {
    let kind = presence::kind(path).ok().flatten()?;
    if kind.is_dir() {
        directory(path, formats)
    } else if kind.is_file() {
        let other = || by_content(path).or_else(|| by_name(path));
        empty(path).or_else(other)
    } else {
        None
    }
}

fn empty(path: &Path) -> Option<String> {
    let told = "is empty: nothing was ever written to it, or there was no room; copy it again, or \
                record anew";
    (head(path)?.is_empty()).then(|| told.into())
}

/// Tells what a regular file holds, by its first bytes, whatever it is called.
pub(crate) fn by_content(path: &Path) -> Option<String> {
    if !presence::kind(path).ok().flatten()?.is_file() {
        return None;
    }
    let head = head(path)?;
    let begins = |kind: &&ForeignKind| {
        let mut magic = kind.magic.iter();
        magic.any(|(at, bytes)| head.get(*at..).is_some_and(|it| it.starts_with(bytes)))
    };
    if let Some(kind) = KINDS.iter().find(begins) {
        return Some(kind.told());
    }
    if retime_perfetto::is_xspace(&head) {
        return Some(XSPACE.into());
    }
    // A text may be packed, as profiles are.
    let unpacked = retime_gzip::first_bytes(File::open(path).ok()?, HEAD).ok()?;
    let text = String::from_utf8_lossy(&unpacked);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = text.to_lowercase();
    let starts = |it: &&ForeignText| it.begins.iter().any(|it| text.starts_with(it));
    let found = TEXTS.iter().find(starts)?;
    Some(format!("{}; {}", found.what, found.way_out))
}

fn by_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let ends = |kind: &&ForeignKind| kind.ends.iter().any(|it| name.ends_with(it));
    KINDS.iter().find(ends).map(ForeignKind::told)
}

/// The first bytes of a file.
fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Paths below a directory, some of very many, by name.
fn below(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let paths = entries.take(NAMES).filter_map(|it| Some(it.ok()?.path()));
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    paths
}

/// The traces in directories, on the first level on which there are any.
fn traces_below(inside: &[PathBuf], formats: &[&dyn Format]) -> Vec<PathBuf> {
    let directories = |of: &mut dyn Iterator<Item = PathBuf>| -> Vec<PathBuf> {
        of.filter(|it| it.is_dir()).take(DIRECTORIES).collect()
    };
    let is_trace = |path: &PathBuf| {
        let mut formats = formats.iter();
        formats.any(|format| format.recognise(path).ok() == Some(Recognition::Certain))
    };
    let mut level = directories(&mut inside.iter().cloned());
    for _ in 0..LEVELS {
        let (traces, others): (Vec<_>, Vec<_>) = level.into_iter().partition(is_trace);
        if !traces.is_empty() {
            return traces;
        }
        level = directories(&mut others.iter().flat_map(|it| below(it)));
    }
    Vec::new()
}

fn directory(path: &Path, formats: &[&dyn Format]) -> Option<String> {
    let inside = below(path);
    let is = |path: &Path, end: &str| path.extension().is_some_and(|it| it == end);
    let traces = traces_below(&inside, formats);
    let traces: Vec<String> = traces.iter().map(printable_path).collect();
    match traces.as_slice() {
        [] => {}
        [one] => return Some(format!("is no trace, but {one} in it is; give that")),
        [first, .., last] => {
            let count = traces.len();
            return Some(format!(
                "is no trace, but holds {count}, {first} to {last}; run retime once for each"
            ));
        }
    }
    let nested = inside.iter().filter(|it| it.is_dir());
    let nested = nested.flat_map(|it| below(it));
    let all: Vec<PathBuf> = inside.iter().cloned().chain(nested).collect();
    let has = |end: &str| all.iter().any(|it| is(it, end));
    if has("evt") && !has("otf2") {
        return Some(
            "has event files of an OTF2 archive, and no anchor file: the measurement ended before it \
             was complete; run the program again and let it end by itself (MPI_Finalize), with room \
             for the trace"
                .into(),
        );
    }
    if inside.iter().any(|it| is(it, "cubex")) {
        return Some(
            "has a profile and no trace; record again with SCOREP_ENABLE_TRACING=true".into(),
        );
    }
    if inside.is_empty() {
        return Some("is an empty directory".into());
    }
    let metadata = inside.iter().find(|it| it.ends_with("metadata"));
    let ctf = metadata.and_then(|it| by_content(it));
    ctf.filter(|it| it.starts_with(CTF))
        .or_else(|| holds_foreign(&inside))
}

/// The first file that is told by its content or name.
fn holds_foreign(inside: &[PathBuf]) -> Option<String> {
    inside.iter().find_map(|path| {
        let told = by_content(path).or_else(|| by_name(path))?;
        let name = printable_path(Path::new(path.file_name()?));
        Some(format!("holds {name}, which {told}"))
    })
}
