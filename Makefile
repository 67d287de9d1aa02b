# What CI runs is `make test`; everything here works on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Two workers with one thread each: more threads than cores would wait for one another.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses 2

.PHONY: help demo test lint types check slow reference docs benchmark clean

help: ## Say what there is to make
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

demo: $(VENV)/.report ## Learn from complementary labels on embedded data; write a report
	$(BIN)/complabel demo

test: $(VENV)/.test lint types check ## Lint, type-check and test, as CI does

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.test
	$(BIN)/mypy

check: $(VENV)/.test
	$(PYTEST) -m "not slow"

slow: $(VENV)/.test ## Test everything, also what takes long on real data
	$(PYTEST)

reference: $(VENV)/.test ## Freeze every method's figures anew, after a change that was meant
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.reference.figures $(if $(DATA),--data-dir $(DATA))

docs: $(VENV)/.docs ## Build the documentation to docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

benchmark: $(VENV)/.test ## Time training against the plain way to write it
	$(BIN)/python benchmarks/training_speed.py $(if $(DATA),--data-dir $(DATA))

clean: ## Remove the environment and all that was built
	rm -rf $(VENV) docs/_build docs/api/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.%: $(BIN)/pip pyproject.toml constraints.txt
	$(INSTALL) --editable ".[$*]"
	@touch $@
