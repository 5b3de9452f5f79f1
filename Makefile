# The short way in: `make demo` and `make test` do everything from a fresh Debian 12 onwards.
# make itself only calls the scripts; CMake builds.

JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 1); [ $$n -gt 2 ] && n=2; echo $$n)
PROGRAM := build/cli/replisim
HEADLINE := scenarios/published/streaming_insert.yaml

.DEFAULT_GOAL := help
.PHONY: help deps build demo test format format-check tidy debug asan soak clean

help: ## what can be made
	@echo "replisim: predicts what a PostgreSQL logical replication pipeline will do"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r target text; do printf '%-20s %s\n' "$$target" "$$text"; done
	@echo
	@echo "  JOBS=N sets the number of parallel jobs (now $(JOBS))"

deps: ## install the missing Debian packages, as root or with sudo
	@scripts/deps.sh

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

test: build ## set up, build and run every test and the validation suites
	@scripts/deps.sh --pages
	@scripts/test.sh build $(JOBS)

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

asan: deps ## build with address and undefined-behaviour sanitizers and run the unit tests
	@scripts/build.sh asan $(JOBS)
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS) -R '^test_(models|scenario|engine|calibration)'

soak: build asan ## the long tests, every test again and again, then all of them with sanitizers
	@scripts/deps.sh slurm-wlm munge parallel openssh-server openssh-client sqlite3
	@ctest --test-dir build -C Soak -L soak --output-on-failure
	@ctest --test-dir build --output-on-failure -j $(JOBS) --schedule-random --repeat until-fail:5
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS) --timeout 600

clean: ## remove the build folders
	@rm -rf build build-debug build-asan
