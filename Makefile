# Two commands are all a newcomer needs:  make demo  and  make test.
# Both set up .venv by themselves; they need Python 3.11 or newer, git and make.

NEW_ENOUGH := import sys; raise SystemExit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# One more than two processors: some tests wait, for browsers, clusters or each other.
WORKERS ?= 3
SITE ?= site

.PHONY: demo kernels test test-all coverage bounds untuned mutants fuzz audit lint types check bench docs release lock clean

demo: $(VENV)/.installed
	$(BIN)/headway demo

# The kernels of all policies in all their forms, for any processor of this kind: only those that changed are
# compiled. They lie in src/headway/built, which a wheel takes along.
kernels: $(VENV)/.installed
	$(BIN)/headway cache warm all --built

# Tests run with the kernels as plain Python, so that nothing is compiled for them; but for those of the files in
# tests/compiled.txt and others marked so, which need the speed or show that compiled kernels do the same.
FILES := $(wildcard tests/test_*.py)
WITH_KERNELS := $(wildcard $(addprefix tests/,$(shell cat tests/compiled.txt)))
PLAIN := NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) -m "not compiled and not long"
PLAIN += $(filter-out $(WITH_KERNELS),$(FILES)) $(shell grep -l mark.interpreted $(WITH_KERNELS))
COMPILED := $(BIN)/python -m pytest -n $(WORKERS) -m "compiled and not long"
COMPILED += $(sort $(WITH_KERNELS) $(shell grep -l mark.compiled $(FILES)))
# The many processes that tests start read Python's bytecode, also where a user's settings would not keep it.
export PYTHONDONTWRITEBYTECODE :=

test: kernels $(VENV)/.test-installed
	$(PLAIN)
	$(COMPILED)

# Every test compiled, the long ones too, with more random examples; and those on small instances as plain Python.
test-all: $(VENV)/.test-installed
	$(PLAIN) --hypothesis-profile=thorough
	$(BIN)/python -m pytest -n $(WORKERS) --hypothesis-profile=thorough

# The same tests as `make test`, and which lines of Python they do not reach; too many of those are a failure.
coverage: $(VENV)/.test-installed
	$(PLAIN) --cov --cov-report= --cov-fail-under=0
	$(COMPILED) --cov --cov-append --cov-report=term

# The same tests with every index of every kernel checked; KERNELS chooses them.
KERNELS ?= engine or policies or slurm or easy or conservative or dbf or ujfb or redirection or grid or nodes or profile
bounds: $(VENV)/.test-installed
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n $(WORKERS) -m "not long" -k "$(KERNELS)" tests

# Recorded runs with numba left as it is, which compiles several times as long: half an hour. RECORDED chooses them;
# those of Slurm's rules (slurm_truth) compile for far longer.
RECORDED ?= (golden and not transform) or test_dbf or ujfb_equal
untuned: $(VENV)/.test-installed
	HEADWAY_UNTUNED=1 $(BIN)/python -m pytest -n $(WORKERS) -m "not long" -k "$(RECORDED)" tests

# Damaged inputs of every kind, for minutes (FUZZ="--mutants 10000 --kind SWF" for more of some).
fuzz: $(VENV)/.test-installed
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

# One change in a kernel at a time: do the tests notice? (MUTANTS="--mutants 50 --under policies/deadline --seed 3")
mutants: $(VENV)/.test-installed
	$(BIN)/python tests/mutants.py $(MUTANTS)

# Known faults of what is installed; says so where no advisory service can be asked.
audit: $(VENV)/.test-installed
	$(PIP) install pip-audit || true
	$(BIN)/python -m release.dependencies

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .

types: $(VENV)/.test-installed
	$(BIN)/mypy

check: test-all lint types

bench: $(VENV)/.test-installed
	$(BIN)/python -m benchmarks $(BENCH)

# The variable silences a notice about the theme's successor, which is no warning about the pages.
docs: $(VENV)/.test-installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir $(SITE)

# Wheel and sdist into dist/, tried in clean environments of every Python on PATH (RELEASE="--python python3.13").
release: $(VENV)/.installed
	$(BIN)/python -m release $(RELEASE)

# Exact versions for tests: what a clean resolve of the project and its test extra gives today. Make it with the
# oldest Python that we promise (PYTHON=...): what needs a newer one cannot be installed there.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip --quiet install hatchling editables
	build/lock/bin/python -m pip --quiet install --editable ".[test]"
	{ sed '/^[^#]/,$$d' requirements-test.txt; build/lock/bin/python -m pip freeze --exclude headway; } > build/lock.txt
	mv build/lock.txt requirements-test.txt && rm -rf build/lock

clean:
	rm -rf $(VENV) src/headway/built build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Headway needs Python 3.11 or newer; none was found on PATH (set PYTHON=...)." >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV) with $(PYTHON)."
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml requirements-test.txt | $(BIN)/python
	@echo "Installing Headway and what it needs into $(VENV): about 600 MB on disk, a minute or two. pip is silent meanwhile."
	$(PIP) install --constraint requirements-test.txt hatchling editables
	$(PIP) install --constraint requirements-test.txt --no-build-isolation --editable .
	@touch $@

$(VENV)/.test-installed: $(VENV)/.installed
	@echo "Installing what the tests need into $(VENV): another minute or two."
	$(PIP) install --use-pep517 --requirement requirements-test.txt
	@touch $@
