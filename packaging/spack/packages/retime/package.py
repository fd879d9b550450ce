# Copyright: the retime developers. License: MIT OR Apache-2.0.
#
# spack repo add packaging/spack && spack install retime +mpi

from spack.package import *


class Retime(CargoPackage):
    """Puts the event traces of parallel and distributed programs on one global
    time: finds effects stamped before their causes, corrects the time stamps
    from the trace alone, and proves the result."""

    # Until there are releases: spack develop --path . retime@main
    version("main")

    license("MIT OR Apache-2.0")

    variant("mpi", default=False, description="Build retime-mpi, for traces of many nodes")

    depends_on("c", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("mpi", when="+mpi")
    # The binding generates its declarations from mpi.h.
    depends_on("llvm +clang", type="build", when="+mpi")

    def setup_build_environment(self, env):
        if self.spec.satisfies("+mpi"):
            env.set("MPICC", self.spec["mpi"].mpicc)
            env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def install(self, spec, prefix):
        cargo("install", "--locked", "--root", prefix, "--path", "crates/cli")
        if spec.satisfies("+mpi"):
            mpi = ["--path", "crates/mpi", "--features", "mpi"]
            cargo("install", "--locked", "--root", prefix, *mpi)
