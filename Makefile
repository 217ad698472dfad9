# Every target does its own set-up: all it needs is make and python3 >= 3.11 with venv.

PYTHON = python3
VENV = .venv
BIN = $(VENV)/bin
# What running needs, and beside it what developing needs.
LOCKED = $(VENV)/.locked
RUN = $(VENV)/.run
STAMP = $(VENV)/.develop

USUAL = --extra solvers
LOCK_OPTIONS = --quiet --generate-hashes --allow-unsafe --strip-extras --build-deps-for editable \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

# Tests start some hundred processes: each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test types tests test-slow test-debian test-lowest test-torch test-long mutants fuzz attack exports bench bench-kernels bench-store \
	lock docs sessions clean

help:
	@echo "make demo       find inputs on which two generations of one instruction differ, and explain them"
	@echo "make test       lint, format, types, import contracts, tests"
	@echo "make test-slow  tests that take seconds each: whole commands, processes that are killed or silent"
	@echo "make test-debian  what needs Debian packages: names them and, as root, installs them"
	@echo "make test-long  10^6 vectors per design family against the oracle; 10^4 of every design; exports (Debian packages)"
	@echo "make test-lowest  the tests with the oldest packages that pyproject.toml allows; a part of test-long"
	@echo "make test-torch  what needs PyTorch, the slow tests too: installs it beside, with transformers and rxnmapper"
	@echo "make mutants    mutmut on what every answer rests on, in mutants/; ONLY='tcformal.semantics.round*': some of it"
	@echo "make fuzz       10^4 odd calls of every command, with odd files"
	@echo "make attack     10^6 inputs, built to lose much, against every kept theorem and bound"
	@echo "make exports    every design in every format, run by the tools of its users (Debian packages); continues"
	@echo "make bench      every solver on the same questions: the order in which the portfolio starts them"
	@echo "make bench-kernels  matrix products: multiply-adds per second, compilation, memory"
	@echo "make bench-store  kept answers among 10^5 others: seconds and memory"
	@echo "make docs       the documentation as a site, in site/; PYODIDE=pyodide-….tgz: with report and playground"
	@echo "make sessions   renew the outputs on the pages of the documentation"
	@echo "make lock       bring both locks up to pyproject.toml; LOCK_UPGRADE=--upgrade: newest versions"
	@echo "make clean      remove the environment and all caches"

# In a results folder of its own: asked afresh, and the kept answers of the checkout stay as they are.
demo: $(RUN)
	TCFORMAL_RESULTS=$(VENV)/demo $(BIN)/tcformal separate ampere/mma.m16n8k8.f32.bf16.bf16.f32 hopper/mma.m16n8k8.f32.bf16.bf16.f32 --explain --fresh

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(MAKE) --no-print-directory --jobs=2 types tests

# Side by side: alone, the types take one processor and leave the other idle.
types: $(STAMP)
	$(BIN)/mypy

# Three for two processors: tests also wait, for limits of time and for other processes.
tests: $(STAMP)
	$(BIN)/pytest -n 3 --dist worksteal

test-slow: $(STAMP)
	$(BIN)/pytest -n 3 --dist worksteal -m "slow and not debian and not long"

test-debian: $(STAMP) docs
	./.ci/debian-packages
	$(BIN)/pytest -n 2 --dist loadgroup -m "debian and not long"

# In an environment of its own: the oldest packages that pyproject.toml allows, and the newest tools of the tests.
test-lowest: $(STAMP)
	$(PYTHON) -m venv --clear $(VENV)/lowest
	$(VENV)/lowest/bin/python -m pip install --quiet uv
	$(VENV)/lowest/bin/uv pip compile --quiet --resolution lowest-direct $(USUAL) -o $(VENV)/lowest/oldest.txt pyproject.toml
	$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python -r $(VENV)/lowest/oldest.txt
	$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python --constraint $(VENV)/lowest/oldest.txt \
		--editable . --group oldest
	$(VENV)/lowest/bin/python -m pytest -n 3 --dist worksteal

# Beside the environment: PyTorch is large, and no other test needs it.
test-torch: $(STAMP)
	$(BIN)/python -m venv --system-site-packages $(VENV)/torch
	$(VENV)/torch/bin/python -m pip install --quiet torch transformers
	$(VENV)/torch/bin/python -m pip install --quiet --no-deps rxnmapper
	PYTHONPATH=$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])'):. \
		$(VENV)/torch/bin/python -m pytest -m "not debian" tests/pytorch

test-long: $(STAMP) test-lowest
	./.ci/debian-packages
	$(BIN)/pytest -m long

mutants: $(STAMP)
	$(BIN)/mutmut run --max-children 2 $(ONLY)
	$(BIN)/mutmut results

fuzz: $(STAMP)
	ODD_CALLS=10000 $(BIN)/pytest -m slow tests/cli/test_odd_calls.py

attack: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m attack --inputs 1000000 --rounds 40 --what theorems
	PYTHONPATH=tests $(BIN)/python -m attack --inputs 4096 --rounds 8 --what bounds

exports: $(STAMP)
	./.ci/debian-packages
	PYTHONPATH=tests $(BIN)/python -m benchmarks.exports

bench: $(STAMP)
	$(BIN)/python -m benchmarks.solvers

bench-kernels: $(STAMP)
	$(BIN)/python -m benchmarks.kernels

bench-store: $(STAMP)
	$(BIN)/python -m benchmarks.store

# In an environment of its own: the generator is no part of the lock.  With the archive of an npm package, PYODIDE,
# the report and its playground lie beside.
docs:
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --editable '.[docs,report]'
	NO_MKDOCS_2_WARNING=1 PYODIDE=$(PYODIDE) $(VENV)/docs/bin/mkdocs build --quiet
	$(if $(PYODIDE),$(VENV)/docs/bin/tcformal report --out site/report --playground $(PYODIDE))

sessions: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m sessions

# The smaller lock is a part of the larger one: the same versions.
lock: $(STAMP)
	$(BIN)/pip-compile $(LOCK_OPTIONS) $(LOCK_UPGRADE) $(USUAL) --extra dev --output-file requirements.lock pyproject.toml
	$(BIN)/pip-compile $(LOCK_OPTIONS) $(USUAL) --constraint requirements.lock --output-file requirements-run.lock pyproject.toml

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
	find tcformal tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is made anew when a lock changes, so that it never holds what the locks do not.
$(LOCKED): requirements-run.lock requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "expected Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) --version); set PYTHON=…" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements-run.lock
	@touch $@

$(RUN): $(LOCKED) pyproject.toml tcformal/version.py
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP): $(RUN)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@touch $@
