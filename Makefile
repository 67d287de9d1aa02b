# CI runs `make test` and `make newcomer`; all of this works on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CONSTRAINTS ?= constraints.txt
# `python -m` everywhere: scripts in bin/ name the place where the environment was made.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint $(CONSTRAINTS)

# An environment that was moved or copied with its checkout still imports the code of the old place.
ifneq ($(shell cat $(VENV)/.place 2>/dev/null),$(CURDIR))
$(shell rm -f $(VENV)/.report,tables $(VENV)/.test $(VENV)/.docs)
endif

# Nothing is compiled while it is installed. So what is imported is compiled then, and kept: else each
# of the processes that tests start would compile torch and SciPy anew, which takes it as long again.
unexport PYTHONDONTWRITEBYTECODE

# Two workers with one thread each: more threads than cores would wait for one another. Each takes one
# half of the tests, so that what the tests of a file share is seldom made by both.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

.PHONY: help demo test lint types check slow theory newcomer portability fuzz reference docs evidence benchmark clean

help: ## Say what there is to make
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

demo: $(VENV)/.report,tables ## Ask about the same pictures in four ways, learn from the answers, write a page
	$(BIN)/python -m complabel demo

test: $(VENV)/.test lint types check ## Lint, type-check and test, as CI does

lint: $(VENV)/.test
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check

types: $(VENV)/.test
	$(BIN)/python -m mypy

check: $(VENV)/.test
	$(PYTEST) -m "not slow"

slow: $(VENV)/.test ## Test everything, also what takes long on real data
	$(PYTEST) tests src research

theory: $(VENV)/.test ## Check the paper's theorems; simulate and measure what its matrices cost (10 minutes)
	$(BIN)/python -m research.theory $(if $(DATA),--data-dir $(DATA))
	$(PYTEST) research/tests

newcomer: ## Do what a new user does, in an environment of its own
	$(PYTHON) tests/newcomer/session.py

portability: $(VENV)/.test ## Run the tests on other kernels, threads, Pythons and dependencies (long)
	$(BIN)/python -m tests.portability $(FACTORS)

fuzz: $(VENV)/.test ## Draw new examples for the property tests; read a million mutated dataset files
	$(PYTEST) -m hypothesis --hypothesis-profile=new $(if $(SEED),--hypothesis-seed=$(SEED))
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.readers --mutants $(or $(MUTANTS),1000000) --jobs 2

reference: $(VENV)/.test ## Freeze every method's figures anew, after a change that was meant
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.reference.figures $(if $(DATA),--data-dir $(DATA))

docs: $(VENV)/.docs ## Build the manual and the evidence to docs/_build/html; run the examples
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

evidence: $(VENV)/.test ## Measure some cells of each benchmark anew; say what has moved (20 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks evidence --jobs 2 --minutes $(or $(MINUTES),20) $(if $(DATA),--data $(DATA)) $(if $(REPORT),--report)

benchmark: $(VENV)/.test ## Time training against the plain way to write it
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks training_speed $(if $(DATA),--data $(DATA),--quick)

clean: ## Remove the environment and all that was built
	rm -rf $(VENV) docs/_build docs/gallery docs/commands.md .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Not a prerequisite but for its existence: the interpreter is as old as the system.
$(VENV)/.%: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	$(INSTALL) --editable ".[$*]"
	@echo "$(CURDIR)" > $(VENV)/.place
	@touch $@
