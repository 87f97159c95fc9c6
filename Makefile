# Everything is set up from the lock file into .venv; nothing else on the machine is touched, but that a Java and a
# chromium are installed where there is none.
PYTHON ?= python3
VENV := .venv
# Python keeps bytecode, also where it is told not to: without it each process reads all modules anew, for two seconds.
export PYTHONDONTWRITEBYTECODE =
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup java chromium demo test quick format fix one check lint types examples contracts compiled compiled_core compiled_engine compiled_pages interpreted browser spark spark_interpreted spark_compiled long chaos compat docs pictures screenshots bench fuzz lock clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## make .venv from the lock file

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sash needs Python 3.11 or newer: set PYTHON=…"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation -e .
	@touch $@

JAVA = java
# Spark needs a Java of 17 or newer that has the module jdk.incubator.vector.
java:
	@java --list-modules 2>/dev/null | grep -q '^jdk.incubator.vector@\(1[7-9]\|[2-9][0-9]\)' \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless >/dev/null; } \
		|| { echo "Spark needs a Java of 17 or newer: install one, such as openjdk-17-jre-headless, and put it on the PATH"; exit 1; }

CHROMIUM = chromium
# The tests of the page run in a real browser, which Playwright drives.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
		|| { echo "The tests of the page need chromium: install it, or Google Chrome, and put it on the PATH"; exit 1; }

demo: $(STAMP) java  ## five windows at once over the stream of a smart home, on local Spark
	$(BIN)/sash demo

# Three of the ten parts run at once, each in one process: kernels are compiled once, there is one Spark, and what runs
# beside the tests on Spark uses the time in which they wait. The parts that take longest begin first, and those on
# Spark, which wait most, come first on the processor, so that both cores are busy until the end.
PARTS = spark_interpreted interpreted spark_compiled compiled_core compiled_engine compiled_pages browser examples types contracts

test: lint java chromium  ## everything that CI runs
	@$(MAKE) --no-print-directory -j 3 --output-sync=target WORKERS=0 BESIDE='nice -n 5' JAVA= CHROMIUM= $(PARTS)

# The plans that these pages print depend on the compiler: `make compiled` runs them.
COMPILED_PAGES = docs/windows.md docs/tutorials/many_windows.md

check: lint  ## format, lint, types, import contracts, and every example in docstrings and docs
	@$(MAKE) --no-print-directory -j 2 types examples contracts

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# One process: to load the modules takes most of the time.
examples: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(BESIDE) $(BIN)/pytest -q src benchmarks README.md docs $(patsubst %,--ignore=%,$(COMPILED_PAGES))

types: $(STAMP)
	$(BESIDE) $(BIN)/mypy

contracts: $(STAMP)
	$(BESIDE) $(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BESIDE) $(BIN)/lint-imports

quick: $(STAMP)  ## for every save: lint, types, and quick tests, interpreted
	$(BIN)/ruff check -q .
	$(BIN)/mypy
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -q tests/test_public_names.py tests/test_errors.py tests/test_refusals.py tests/plan tests/windows tests/engine/test_transcripts.py tests/engine/test_coded_columns.py -m "not only_compiled and not long"

format: $(STAMP)  ## format the code
	$(BIN)/ruff format .

fix: $(STAMP)  ## format the code, and mend what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

one: $(STAMP)  ## one test file or test, such as make one T=tests/plan
	$(BIN)/pytest -q $(T)

WORKERS = 2
BESIDE =
TESTS = $(BIN)/pytest -n $(WORKERS) --dist loadfile -q

compiled: compiled_core compiled_engine compiled_pages  ## the tests whose outcome can depend on the compiler

CORE = tests/algebra tests/swag
COMPILED = -m "(compiled or only_compiled) and not spark and not long"

# Half of the time is LLVM's, so these are optimised little. Pages, Spark and `make long` are compiled as shipped.
compiled_core: $(STAMP)
	NUMBA_OPT=1 $(BESIDE) $(TESTS) $(CORE) $(COMPILED)

compiled_engine: $(STAMP)
	NUMBA_OPT=1 $(BESIDE) $(TESTS) tests $(patsubst %,--ignore=%,$(CORE)) $(COMPILED)

compiled_pages: $(STAMP)
	$(BESIDE) $(TESTS) $(COMPILED_PAGES)

interpreted: $(STAMP)  ## all tests without Spark, with the compiler off: bounds checked, combines counted
	NUMBA_DISABLE_JIT=1 $(BESIDE) $(TESTS) tests -m "not only_compiled and not spark and not browser and not long"

browser: $(STAMP) $(CHROMIUM)  ## the live page and the site in a real browser
	NUMBA_DISABLE_JIT=1 $(BESIDE) $(TESTS) tests/page tests/test_site.py -m "browser and not long"

spark: spark_interpreted spark_compiled  ## on real Spark: windows, frames, types, transcripts, and the guide's examples

spark_interpreted: $(STAMP) $(JAVA)
	NUMBA_DISABLE_JIT=1 $(TESTS) --no-loadscope-reorder tests/spark -m "spark and not only_compiled and not long"

spark_compiled: $(STAMP) $(JAVA)
	$(TESTS) --no-loadscope-reorder tests/spark -m "spark and (compiled or only_compiled) and not long"

long: $(STAMP) java chromium  ## a local cluster with executors of its own, Spark Connect, and a quick run of every benchmark
	$(BIN)/pytest -q tests -m long --ignore=tests/spark/test_chaos.py --ignore=tests/spark/test_soak.py

chaos: $(STAMP) java  ## kill drivers, executors and workers of a streaming job, thirty of each, and stream ten million rows
	SASH_CHAOS_KILLS=30 $(BIN)/pytest -q -s -m long tests/spark/test_chaos.py tests/spark/test_soak.py

compat: $(STAMP) java  ## the tests marked compat on every version of PySpark, each in an environment of its own
	$(BIN)/python -m tests.compat

docs: $(STAMP)  ## the documentation as a site, in build/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html -d build/doctrees docs build/docs

pictures: $(STAMP)  ## draw the pictures of the docs anew
	$(BIN)/python -m docs.drawings

screenshots: $(STAMP) chromium  ## take the screenshots of the docs anew
	$(BIN)/python -m docs.screenshots

bench: $(STAMP) java  ## all benchmarks: tables, JSON and plots under build/bench
	$(BIN)/python -m benchmarks algorithms
	$(BIN)/python -m benchmarks slicing
	$(BIN)/python -m benchmarks matrix
	$(BIN)/python -m benchmarks spark_tables
	$(BIN)/python -m benchmarks spark_streams
	$(BIN)/python -m benchmarks report

fuzz: $(STAMP)  ## hours of random tests against the oracles: algorithms, lives of streams, frames, damaged states
	$(BIN)/python -m tests.fuzz
	$(BIN)/pytest -q -m fuzz tests/engine
	$(BIN)/python -m tests.lives.campaign --lives 100000
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m tests.lives.campaign --lives 100000
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m tests.lives.campaign --lives 20000 --bucket
	$(BIN)/python -m tests.campaigns.frames
	$(BIN)/python -m tests.campaigns.blobs
	$(BIN)/python -m tests.campaigns.figures

lock: $(STAMP)  ## pin all dependencies anew, with hashes
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-emit-index-url --no-header --no-annotate pyproject.toml -o requirements.lock
	$(BIN)/python -m tests.compat --lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache
