# Copyright: the retime developers. License: MIT OR Apache-2.0.
#
# In a directory with retime-0.1.0.tar.gz, which `make release RELEASE=source` makes, by Spack 1.0
# or later:
#
#   spack repo add SOURCES/packaging/spack/spack_repo/retime
#   spack install --no-checksum retime +mpi

import os

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Retime(Package):
    """Puts the event traces of parallel and distributed programs on one global
    time: finds effects stamped before their causes, corrects the time stamps
    from the trace alone, and proves the result."""

    manual_download = True
    url = f"file://{os.getcwd()}/retime-0.1.0.tar.gz"

    version("0.1.0")

    license("MIT OR Apache-2.0")

    variant("mpi", default=False, description="Build retime-mpi, for traces of many nodes")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("mpi", when="+mpi")
    # The binding generates its declarations from mpi.h.
    depends_on("llvm +clang", type="build", when="+mpi")

    def setup_build_environment(self, env):
        if self.spec.satisfies("+mpi"):
            env.set("MPICC", self.spec["mpi"].mpicc)
            env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def install(self, spec, prefix):
        make("install-command", f"PREFIX={prefix}")
        if spec.satisfies("+mpi"):
            mpi = ["--package", "retime-mpi", "--features", "mpi"]
            cargo("build", "--locked", "--profile", "dist", *mpi)
            install("target/dist/retime-mpi", prefix.bin)
