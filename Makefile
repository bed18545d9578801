# Every command a contributor needs. Each recipe is a line, or a script in tools/ that says what it does.
BUILD  ?= build
JOBS   ?= $(shell nproc)
# More for CMake, e.g. CMAKE_ARGS="-DTUTTI_CUDA=OFF".
CMAKE_ARGS ?=
# For "make peers": --quick, --only PART, --runs N, --screen.
PEERS_ARGS ?=
# GNU installation folders; DESTDIR stages a package.
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib

configure = cmake --preset
install_args = -DCMAKE_INSTALL_PREFIX=$(prefix) -DCMAKE_INSTALL_BINDIR=$(bindir) -DCMAKE_INSTALL_LIBDIR=$(libdir)

# The module of the Python package; without PyPI it is left out, and its tests report so.
with_python = -DTUTTI_PYTHON=$$(tools/wheel.sh --python)

.DEFAULT_GOAL := help
.PHONY: help setup build test test-long demo demo-gpus bench peers gpu-check wheel deb tarball release-check tidy format asan tsan \
        install clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: ## install what is missing, fetch libtorch and Whisper tiny.en into the cache
	@tools/setup.sh

build: setup ## the programs, Release, in build/bin
	@$(configure) release -B $(BUILD) $(CMAKE_ARGS) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target programs

test: setup ## every test and check; ends with "N passed, N failed, N skipped"
	@$(configure) release -B $(BUILD) $(CMAKE_ARGS) $(with_python) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS)
	@tools/run_tests.py $(BUILD)

test-long: setup ## the tests that take minutes and that "make test" leaves out: word errors of every type, a fine-tuning
	@$(configure) release -B $(BUILD) $(CMAKE_ARGS) $(with_python) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS)
	@tools/run_tests.py $(BUILD) --long

demo: build ## transcribe samples/: English with tiny.en, digits with models/nano and TUTTI_MODEL; train for a minute
	@tools/demo.sh $(BUILD)

demo-gpus: build ## tutti batch on twelve unequal GPUs that are not there, one of which dies and comes back
	@cmake --build $(BUILD) -j $(JOBS) --target fake_nvml
	@tools/demo_gpus.py $(BUILD)

bench: build ## speed of each hot path, into build/bench.jsonl
	@cmake --build $(BUILD) -j $(JOBS) --target benches slow_reads
	@tools/bench.py $(BUILD)
	@bench/planted_pipelines.py $(BUILD)
	@bench/profile_overhead.py $(BUILD)
	@bench/outside_programs.py $(BUILD)
	@bench/proven_fixes.py $(BUILD)
	@bench/runner_idle.py $(BUILD)

peers: build ## side by side with other programs, into build/peers.jsonl; PEERS_ARGS="--only tiny/greedy --runs 1"
	@tools/peers.sh $(BUILD) $(PEERS_ARGS)

gpu-check: setup ## parity and speed of every compute type on this machine's GPU
	@$(configure) release -B $(BUILD) $(CMAKE_ARGS) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target tutti-gpu-check
	@$(BUILD)/bin/tutti-gpu-check

wheel: setup ## the Python package tutti, into dist/ (docs/python.md)
	@$(configure) release -B $(BUILD) $(CMAKE_ARGS) $(with_python) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target programs tutti_python
	@tools/wheel.sh $(BUILD)

deb: build ## the Debian packages tutti and tutti-engine, into dist/ (docs/packages.md)
	@tools/setup.sh package
	@tools/deb.sh $(BUILD)
	@lintian --allow-root --fail-on error,warning --tag-display-limit 0 dist/tutti_*.deb dist/tutti-engine_*.deb

tarball: build ## an archive that runs where it is unpacked, into dist/ (docs/packages.md)
	@tools/tarball.sh $(BUILD)

release-check: ## everything that is released, and its tests: one version everywhere, wheel, packages, archive
	@$(MAKE) --no-print-directory wheel deb tarball
	@tools/release_check.py $(BUILD) dist
	@cmake --build $(BUILD) -j $(JOBS)
	@tools/run_tests.py $(BUILD) --long -R '^system\.(package|python-wheel|converted)'

tidy: ## clang-tidy over src/ and apps/
	@tools/setup.sh tidy
	@$(configure) release -B $(BUILD)-tidy $(CMAKE_ARGS) -DTUTTI_UNITY=OFF --log-level=WARNING
	@tools/tidy.py $(BUILD)-tidy

format: ## format the C++ sources in place
	@tools/check_format.sh --fix

asan: setup ## every test under the address and undefined-behaviour sanitizers, each fuzz target for 60 s
	@$(configure) asan $(CMAKE_ARGS) --log-level=WARNING
	@cmake --build build-asan -j $(JOBS)
	@TUTTI_FUZZ_SECONDS=60 tools/run_tests.py build-asan

tsan: setup ## the threaded modules under ThreadSanitizer
	@$(configure) tsan $(CMAKE_ARGS) --log-level=WARNING
	@cmake --build --preset tsan -j $(JOBS)
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tools/tsan.supp tools/run_tests.py build-tsan -R '^(base|device|feed|flow|jobs|link|serve|transcribe)\.'

install: setup ## install below $(DESTDIR)$(prefix)
	@$(configure) release -B $(BUILD) $(install_args) $(CMAKE_ARGS) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target programs
	@cmake --install $(BUILD)

clean: ## remove the build folders (the cache stays)
	rm -rf $(BUILD) build-debug build-asan build-tsan build-cpu
