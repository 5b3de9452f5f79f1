# The short way in: `make demo` and `make test` do everything from a fresh Debian 12 onwards.
# make itself only calls the scripts; CMake builds.

JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 1); [ $$n -gt 2 ] && n=2; echo $$n)
PROGRAM := build/cli/replisim
HEADLINE := scenarios/published/streaming_insert.yaml

.DEFAULT_GOAL := help
.PHONY: help deps deps-tests build demo validation test bench fuzz coverage live pages \
  format format-check tidy debug asan sanitized soak clean

help: ## what can be made
	@echo "replisim: predicts what a PostgreSQL logical replication pipeline will do"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r target text; do printf '%-20s %s\n' "$$target" "$$text"; done
	@echo
	@echo "  JOBS=N sets the number of parallel jobs (now $(JOBS))"

deps: ## install the missing Debian packages, as root or with sudo
	@scripts/deps.sh

deps-tests: ## install what the tests need besides: Python, a PostgreSQL server, a browser, Node.js
	@scripts/deps.sh --tests

build: deps ## build the program and the tests (release) into build/
	@scripts/build.sh release $(JOBS)

demo: deps ## set up, build the program and run the headline scenario
	@scripts/build.sh release $(JOBS) replisim
	@echo
	@echo "== One transaction that inserts 5,000,000 rows, at logical_decoding_work_mem = 64MB"
	@$(PROGRAM) run $(HEADLINE) --set servers.pub.settings.logical_decoding_work_mem=64MB
	@echo
	@echo "== The same with streaming = off and streaming = parallel, side by side"
	@$(PROGRAM) sweep $(HEADLINE) --vary subscriptions.s.streaming=off,parallel

validation: build ## write docs/validation.md anew: every suite, predicted beside measured
	@scripts/validation_report.py $(PROGRAM) > docs/validation.md.new && mv docs/validation.md.new docs/validation.md

test: deps-tests build ## set up, build and run every test and the validation suites
	@scripts/test.sh build $(JOBS)

bench: deps ## measure speed: pieces, whole runs beside the plain way, instruction counts (docs/benchmarks.md)
	@scripts/deps.sh --bench
	@scripts/build.sh release $(JOBS) replisim bench_pieces plain_pipeline
	@build/tests/bench/bench_pieces --benchmark_out=build/bench-pieces.json --benchmark_out_format=json
	@tests/bench/bench.py $(PROGRAM) build/tests/bench/plain_pipeline --json build/bench.json
	@tests/bench/instructions.py $(PROGRAM)

fuzz: deps ## five minutes of hostile input for every fuzz target (FUZZ_SECONDS=300 each)
	@scripts/deps.sh clang-14 libclang-rt-14-dev
	@scripts/fuzz.sh $(JOBS) $(or $(FUZZ_SECONDS),300)

coverage: deps-tests ## which lines the tests run, with gcov (installs gcovr; takes an hour)
	@scripts/deps.sh gcovr
	@scripts/coverage.sh $(JOBS)

pages: build ## only the tests of the HTML pages in a browser
	@scripts/deps.sh --pages
	@ctest --test-dir build --output-on-failure -L pages

live: build ## the long tests with real servers, 15 to 18, and the lab's full plan (installs postgresql-15)
	@scripts/deps.sh --tests
	@tests/live/all.sh build/cli/replisim build/live build/live-work

format: ## format all C++ files (installs clang-format)
	@scripts/deps.sh clang-format
	@scripts/format.sh

format-check: ## say which C++ files are not formatted
	@scripts/format.sh --check

tidy: deps ## run clang-tidy over the sources (installs clang-tidy; takes minutes)
	@scripts/deps.sh clang-tidy
	@scripts/build.sh release $(JOBS)
	@run-clang-tidy -quiet -p build -j $(JOBS) '^$(CURDIR)/(models|sim|calibration|cli)/.*\.cpp$$'

debug: deps ## build with debug information into build-debug/
	@scripts/build.sh debug $(JOBS)

asan: deps ## build with address and undefined-behaviour sanitizers, by clang, and run the unit tests
	@scripts/deps.sh clang-14 libclang-rt-14-dev
	@scripts/build.sh asan $(JOBS)
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS) \
	  -R '^test_(models|scenario|engine|calibration|readers|import|check)'

sanitized: deps ## models with sanitizers, 5 s of hostile input for each reader, clang-tidy of what changed
	@scripts/deps.sh clang-14 libclang-rt-14-dev clang-tidy
	@scripts/sanitized.sh $(JOBS) 5
	@scripts/tidy_changed.sh build-quick-asan

soak: build asan ## the long tests, every test again and again, then all of them with sanitizers
	@scripts/deps.sh slurm-wlm munge parallel openssh-server openssh-client sqlite3 \
	  clang-14 libclang-rt-14-dev
	@scripts/fuzz.sh $(JOBS) 3600
	@tests/cli/signals.sh $(CURDIR)/$(PROGRAM) $(CURDIR)
	@ctest --test-dir build -C Soak -L soak --output-on-failure
	@ctest --test-dir build --output-on-failure -j $(JOBS) --schedule-random --repeat until-fail:5
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS) --timeout 600
	@scripts/deps.sh gcovr
	@scripts/coverage.sh $(JOBS)

clean: ## remove the build folders
	@rm -rf build build-debug build-asan build-quick-asan build-cov
