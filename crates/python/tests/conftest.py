import os
import pathlib
import random
import subprocess

import pytest

import retime

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def command():
    """The command as the crate `retime-cli` builds it."""
    return os.environ.get("RETIME", str(REPOSITORY / "target/release/retime"))


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """A trace with clock errors, the truth in `.truth`."""
    place = tmp_path_factory.mktemp("simulated") / "halo"
    return retime.simulate("halo", place, events=20_000, offset="1ms", drift="20ppm", seed=3)


@pytest.fixture(scope="session")
def trace(simulated):
    return simulated.trace


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A trace that takes a while."""
    place = tmp_path_factory.mktemp("large") / "halo"
    return retime.simulate("halo", place, events=4e6, ranks=8, offset="1ms", no_truth=True).trace


@pytest.fixture
def chance():
    """Randomness that is the same in each `make test-python`."""
    return random.Random(os.environ.get("PROPTEST_RNG_SEED"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """The shared traces, unpacked."""
    packed = pathlib.Path(os.environ.get("RETIME_TRACES", REPOSITORY.parent / "shared/traces"))
    if not packed.is_dir():
        pytest.skip(f"there are no shared traces at {packed}")
    place = tmp_path_factory.mktemp("shared")
    for archive in sorted(packed.glob("**/*.tar.zst")):
        into = place / archive.name.removesuffix(".tar.zst")
        into.mkdir()
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", into], check=True)
    return place
