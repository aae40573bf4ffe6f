# The front door. Everything here is CMake presets underneath; see CMakePresets.json.

JOBS ?= $(shell nproc)
# one more than cores: the browser and the server tests mostly wait
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
CTEST_ARGS ?=
FUZZ_SECONDS ?= 600
# OFF: everything but the viewer's page, for machines on which npm cannot reach its packages
VIEWER ?= ON
# OFF: without the Python package, for machines on which pip cannot reach its packages
PYTHON ?= ON

CXX_FILES = $(shell find tangere apps bench tests examples experiments python -name node_modules -prune -o -name '*.hpp' -print -o -name '*.cpp' -print 2>/dev/null)
CXX_SOURCES = $(filter %.cpp,$(filter-out tests/packaging/%,$(CXX_FILES)))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.SECONDARY:
.PHONY: help demo test build bench experiments stress sanitize fuzz oracles test-clang format format-check tidy clean
.PHONY: deb environment wheel test-frameworks test-sweeps
.PHONY: viewer-packages packages-build packages-demo packages-test packages-bench packages-lint packages-oracles

help:  ## show this list
	@echo "tangere: make <target>"
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16 | sed 's/^/  /'

demo: packages-demo viewer-packages build  ## build, then show what the engine does
	@mkdir -p build/demo/examples
	@for example in build/bin/example_*; do \
	  "$$example" "build/demo/examples/$${example##*/example_}.json" > build/demo/examples/log.txt || { cat build/demo/examples/log.txt; exit 1; }; \
	done
	build/bin/tangere demo --recordings build/demo/examples

test: packages-test viewer-packages test-dev  ## build with asserts alive and run every test

build: packages-build compile-release  ## optimised build: build/bin/tangere, build/bin/bench_*

bench: packages-bench build  ## measure beside the papers' figures, FCL and MuJoCo; writes bench/results/<machine>.md
	scripts/bench_results.sh build/bin bench/results

sanitize: packages-test test-asan test-tsan  ## all tests under the address and undefined-behaviour sanitizers, those with threads under the thread sanitizer

experiments: build  ## the papers' experiments: was every claim met?
	build/bin/tangere experiment all --overwrite --output build/experiments --html build/demo/experiments
	build/bin/tangere optimize all --json | tee build/experiments/optimize.jsonl

stress: packages-test compile-dev  ## millions of random pairs, scenes and motions: none may fail
	TANGERE_STRESS_PAIRS=1000000 build/dev/bin/test_proximity --gtest_filter='ScalingStress.*'
	TANGERE_STRESS_SCENES=1000 build/dev/bin/test_sim --gtest_filter='RandomScenes.*'
	TANGERE_STRESS_CLEARANCE=1000000 TANGERE_STRESS_CONFIGURATIONS=1000 TANGERE_STRESS_SWEPT=10000 \
	  TANGERE_STRESS_BOUNDS=1000000 build/dev/bin/test_clearance --gtest_filter='*Clearance*:Bounded*'

fuzz: packages-build packages-lint compile-fuzz  ## throw broken files at the readers, FUZZ_SECONDS (600) each
	@for program in build/fuzz/bin/fuzz_*; do \
	  corpus=build/fuzz/corpus/$${program##*/fuzz_}; mkdir -p "$$corpus"; echo "== $$program"; \
	  "$$program" -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -timeout=20 -print_final_stats=1 \
	    -artifact_prefix="$$corpus-" "$$corpus" "tests/fuzz/$${program##*/fuzz_}" || exit 1; \
	done

oracles: packages-oracles compile-oracles  ## dynamics beside MuJoCo and DART, live, at 100 random states a robot; distances beside FCL
	build/oracles/bin/mujoco_dynamics
	build/oracles/bin/dart_dynamics
	build/oracles/bin/fcl_distance tests/data/fcl_distance.jsonl

test-clang: packages-test packages-lint test-dev-clang  ## all tests, built with clang

test-debug: packages-test  ## all tests, Eigen memory filled with NaN and allocation checks on

test-%: compile-%
	ctest --preset $* --parallel $(TEST_JOBS) $(CTEST_ARGS)
	@echo "tangere: all tests passed ($*)"

# these build the Python package too, with what is in build/venv
ifneq ($(PYTHON),OFF)
configure-dev configure-dev-clang configure-release: environment
configure-dev configure-dev-clang configure-release: PYTHON_OPTIONS = -DTANGERE_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python
endif

configure-%:
	cmake --preset $* --log-level=NOTICE -D TANGERE_BUILD_VIEWER=$(VIEWER) $(PYTHON_OPTIONS)

environment:
	@scripts/python_environment.sh

compile-%: configure-%
	cmake --build --preset $* --parallel $(JOBS)

format: packages-lint  ## reformat all C++ files
	clang-format -i $(CXX_FILES)

format-check: packages-lint  ## fail if a C++ file is not formatted
	clang-format --dry-run --Werror $(CXX_FILES)

# OFF: without PyTorch, whose wheel for Linux brings several gigabytes of CUDA libraries
TORCH ?= ON
FRAMEWORKS = "jax >= 0.6" "gymnasium >= 1.0" "casadi >= 3.6" $(if $(filter OFF,$(TORCH)),,"torch >= 2.4")

test-frameworks: packages-test  ## the Python package beside PyTorch (TORCH=OFF: not), JAX, Gymnasium and CasADi
	scripts/python_environment.sh $(FRAMEWORKS)
	$(MAKE) configure-dev
	cmake --build --preset dev --parallel $(JOBS) --target tangere_python
	PYTHONPATH=build/dev/python build/venv/bin/python -m pytest -q -p no:cacheprovider python/tests/framework_*.py

SWEEPS = "ray >= 2.52" pyarrow "zarr >= 3" pandas duckdb

test-sweeps: packages-test  ## sweeps (docs/sweeps.md) with processes and Ray on this machine, through kills and faults: ten minutes
	scripts/python_environment.sh $(SWEEPS)
	$(MAKE) configure-dev
	cmake --build --preset dev --parallel $(JOBS) --target tangere_python tangere_cli
	PYTHONPATH=$(CURDIR)/build/dev/python build/venv/bin/python -m pytest -q -p no:cacheprovider python/tests/sweep

wheel: packages-build viewer-packages environment  ## a Python wheel for any x86-64 machine, in build/wheels
	scripts/wheel.sh

deb: packages-demo viewer-packages  ## a Debian package of headers, library and command for any x86-64 machine, in build/deb
	cmake --preset release -B build/deb -D TANGERE_NATIVE=OFF -D TANGERE_BUILD_BENCH=OFF -D TANGERE_BUILD_EXAMPLES=OFF \
	  -D CMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/deb/bin -D TANGERE_BUILD_VIEWER=$(VIEWER) --log-level=NOTICE
	cmake --build build/deb --parallel $(JOBS)
	cd build/deb && cpack -G DEB
	ls -l build/deb/*.deb

tidy: packages-test packages-lint configure-dev-clang  ## clang-tidy over all sources
	printf '%s\n' $(CXX_SOURCES) | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build/dev-clang

clean:  ## remove everything that was built
	rm -rf build

# first of all: what needs the network should fail before minutes of compiling
viewer-packages:
	@[ "$(VIEWER)" = OFF ] || cmake -D NPM="$$(command -v npm)" -D FOLDER=apps/viewer -P apps/viewer/install_packages.cmake

packages-build:
	@scripts/install_dependencies.sh build

packages-demo:
	@scripts/install_dependencies.sh build viewer

packages-test:
	@scripts/install_dependencies.sh build viewer test

packages-bench:
	@scripts/install_dependencies.sh build bench

packages-oracles:
	@scripts/install_dependencies.sh build test oracles

packages-lint:
	@scripts/install_dependencies.sh lint
