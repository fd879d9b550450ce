# `make demo` and `make test` do all set-up themselves.

CARGO ?= cargo
# Root needs no sudo, and a container may have none.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# Random cases are the same in each `make test`, so that it passes or fails for a
# reason; plain `cargo test` draws new ones.
SEED ?= 1997

.PHONY: all demo test lint bench tools clean

all: ## Build the command: target/release/retime
	$(CARGO) build --release --package retime-cli

demo: ## Show check, correct and check on a bundled real recording
	$(CARGO) run --quiet --release --package retime-cli -- demo

test: tools ## Run all tests, with otf2-print as an independent judge
	RETIME_REQUIRE_OTF2_TOOLS=1 PROPTEST_RNG_SEED=$(SEED) $(CARGO) test --workspace --quiet
	@[ -d ../shared/traces ] || echo "skipped: the tests on the large real traces; there is no ../shared/traces"

lint: ## Formatting, lints and documentation; warnings are errors
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

bench: ## Print the figures of the README
	benches/figures.sh

tools: # What the tests compare with and unpack with.
	@command -v otf2-print >/dev/null && command -v zstd >/dev/null || { \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq otf2-tools zstd >/dev/null; }

clean:
	$(CARGO) clean
