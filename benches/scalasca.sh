#!/usr/bin/env bash
# Compares the controlled logical clock of Scalasca with retime's on one archive: what stays
# reversed, how local intervals are distorted, how near times are to the truth where that is
# known, what the wait states say before and after, time and memory. docs/COMPARISON.md has what
# was measured.
#
#   benches/scalasca.sh SOURCE       builds Scalasca's trace tools from that directory, the
#                                    unpacked sources of Scalasca 2.6 or newer, below target/
#   SCALASCA_PREFIX=DIR benches/scalasca.sh
#                                    uses those installed in DIR/bin: scout.mpi and
#                                    clc_synchronize.mpi
#
#   TRACE=DIR TRUTH=DIR              an OTF2 archive of MPI processes, and the same with true times
#                                    if there is one; by default those of the shared traces, or the
#                                    recording of `retime demo`
#   RUNS=N                           how often what is timed runs, by turns; by default 5
set -euo pipefail

# Paths are given from where this is called.
absolute() { # PATH
    [ -z "$1" ] || realpath -m "$1"
}
sources=$(absolute "${1:-${SCALASCA_SOURCE:-}}")
prefix=$(absolute "${SCALASCA_PREFIX:-}")
recorded=$(absolute "${TRACE:-}")
truth=$(absolute "${TRUTH:-}")
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
prefix=${prefix:-$target/scalasca/install}
runs=${RUNS:-5}

explain() {
    cat >&2 <<'TEXT'
benches/scalasca.sh: Scalasca is not there. Give the directory of its sources,

    benches/scalasca.sh scalasca-2.6.2/

or that of an installation, SCALASCA_PREFIX=/opt/scalasca. The sources are at
www.scalasca.org (BSD licence); an MPI compiler, a C++ compiler and zlib build them. They
bring the libraries for OTF2 and Cube that they need.
TEXT
    exit 2
}

build() {
    [ -x "$sources/configure" ] || {
        echo "benches/scalasca.sh: $sources has no configure: give the unpacked sources" >&2
        exit 2
    }
    mkdir -p "$target/scalasca/build"
    # Scalasca calls every later Open MPI by this name.
    (cd "$target/scalasca/build" &&
        "$sources/configure" --prefix="$prefix" --with-mpi="${SCALASCA_MPI:-openmpi3}" --disable-shared &&
        make -j"$(nproc)" install) >"$target/scalasca/build.log" 2>&1 || {
        tail -n 20 "$target/scalasca/build.log" >&2
        echo "benches/scalasca.sh: it does not build; $target/scalasca/build.log has all" >&2
        exit 1
    }
}

if [ ! -x "$prefix/bin/scout.mpi" ] || [ ! -x "$prefix/bin/clc_synchronize.mpi" ]; then
    [ -n "$sources" ] || explain
    build
fi
for needed in mpirun otf2-print python3; do
    command -v "$needed" >/dev/null || {
        echo "benches/scalasca.sh: $needed is needed, and is not there" >&2
        exit 2
    }
done

cargo build --quiet --profile dist --package retime-cli
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "$recorded" ]; then
    cp -r "$recorded" "$scratch/recorded"
    [ -z "$truth" ] || cp -r "$truth" "$scratch/truth"
elif [ -e ../shared/traces/rtns.mono.tar.zst ]; then
    for part in mono truth; do
        tar --zstd -C "$scratch" -xf "../shared/traces/rtns.$part.tar.zst"
    done
    mv "$scratch/rtns.mono" "$scratch/recorded"
    mv "$scratch/rtns.truth" "$scratch/truth"
else
    "$target/dist/retime" demo --keep "$scratch/demo" >/dev/null
    mv "$scratch/demo/halo" "$scratch/recorded"
fi
python3 benches/scalasca.py --retime "$target/dist/retime" --scalasca "$prefix/bin" \
    --scratch "$scratch" --runs "$runs"
