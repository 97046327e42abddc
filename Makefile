# Every target stands alone: it sets the machine up, configures and builds what it needs.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test busy bench asan tsan fuzz crash differential memory format tidy clean

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
CRASH_CYCLES ?= 300
CORPORA ?= 2000
RUNS ?= 200

help:
	@echo "make demo    set up, build, and deduplicate the sample in examples/"
	@echo "make test    set up, build, run every test"
	@echo "make build   the release binaries, build/release/kindred and kindred-bench"
	@echo "make bench   the figures of docs/benchmarks.md"
	@echo "make asan tsan fuzz   the tests under sanitizers; each fuzzer for FUZZ_SECONDS"
	@echo "make busy    the tests five times, many at once beside four busy loops: none may depend on the machine's speed"
	@echo "make crash   kill the seen set and an index CRASH_CYCLES times and look at what is left"
	@echo "make differential   hold dedup against a plain Python form of it, over CORPORA random corpora"
	@echo "make memory  RUNS dedup runs of random shapes, formats, threads and budgets, each held against its budget"
	@echo "make format tidy      clang-format and clang-tidy over src/"

setup:
	@scripts/setup

build: setup
	@cmake --preset release -DBUILD_TESTING=OFF >/dev/null
	@cmake --build --preset release -j $(JOBS)

demo: build
	@scripts/demo

test: setup
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)
	@ctest --preset dev -j $$((2 * $(JOBS)))

busy: setup
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)
	@scripts/busy 4 5 ctest --preset dev -j $$((4 * $(JOBS)))

bench: build
	@scripts/setup --bench
	@scripts/bench

asan tsan: setup
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@ -j $(JOBS)

fuzz:
	@scripts/setup --developer
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@scripts/fuzz $(FUZZ_SECONDS)

crash: build
	@python3 tests/e2e/seen_crash_test.py build/release/kindred $(CRASH_CYCLES)
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS) --target kin_index_test
	@KIN_CRASH_CYCLES=$(CRASH_CYCLES) build/dev/kin_index_test --gtest_brief=1 --gtest_filter='ShardKilled.*'

differential: build
	@python3 tests/e2e/differential_test.py build/release/kindred $(CORPORA) --seed fresh --jobs $(JOBS)

memory: build
	@python3 tests/e2e/memory_mix_test.py build/release/kindred $(RUNS) --seed fresh

format:
	@scripts/setup --developer
	@git ls-files 'src/*.h' 'src/*.cc' 'cmake/*.cc' | xargs clang-format-19 -i

tidy:
	@scripts/setup --developer
	@scripts/tidy

clean:
	@rm -rf build
