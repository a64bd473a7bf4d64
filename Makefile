# Every target builds .venv from constraints.txt first, when it is missing or stale. Only python3 (3.11 or later) with
# venv is needed; uv is used when it is on PATH.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# Test files run two at a time, each in one process, as its fixtures do: `make test PROCESSES=1` runs one after the other.
PROCESSES ?= 2
PYTEST := $(BIN)/python -m pytest -q
SIDE_BY_SIDE := -n $(PROCESSES) --dist loadfile
SUITES := tests/architecture tests/unit tests/property tests/contract tests/conformance tests/e2e tests/chaos

.DEFAULT_GOAL := help
.PHONY: help demo up test fast e2e chaos bench lint fix docs constraints clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## Ask one question of a small web on this machine, from nothing to a cited answer
	@$(BIN)/signal-search demo

up: $(STAMP) ## Run the whole stack until Ctrl-C
	@$(BIN)/signal-search up

# The tests start hundreds of processes; where no bytecode may be kept, each of them would compile every module again.
test fast e2e chaos: export PYTHONDONTWRITEBYTECODE :=

test: $(STAMP) ## Run every test, cheapest first, on two cores
	@$(PYTEST) -p no:randomly $(SIDE_BY_SIDE) $(SUITES)

fast: $(STAMP) ## Run what is quick enough for every save, in random order
	@$(PYTEST) $(SIDE_BY_SIDE) tests/architecture tests/unit

e2e: $(STAMP) ## Run the tests with a real gateway, real workers and a real store
	@$(PYTEST) -p no:randomly $(SIDE_BY_SIDE) tests/e2e

chaos: $(STAMP) ## Kill processes at every point, break the store, compare with stock Celery; prints a table
	@$(BIN)/python -m tests.chaos

bench: $(STAMP) ## Measure; writes bench/results.json
	@$(BIN)/python -m bench

lint: $(STAMP) ## Check format, rules, types, import floors and spelling
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/codespell

fix: $(STAMP) ## Mend what the tools can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(STAMP) ## Write the generated reference pages
	@$(BIN)/python docs/reference/generate.py

constraints: ## Choose the newest versions again and write constraints.txt
	@PYTHON="$(PYTHON)" infra/deploy/constraints.sh

clean: ## Remove everything that was built
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): constraints.txt pyproject.toml sdk/pyproject.toml
	@PYTHON="$(PYTHON)" infra/deploy/install.sh $(VENV)
	@touch $(STAMP)
