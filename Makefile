# Everything runs in .venv, which is made on first use. Needs Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check cover lock clean

# The package with its core dependencies, at the locked versions.
.venv/.installed: pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv .venv
	$(PIP) install --constraint requirements-dev.txt --editable .
	touch $@

# And what the tests need.
.venv/.dev: .venv/.installed
	$(PIP) install --requirement requirements-dev.txt
	touch $@

demo: .venv/.installed
	$(BIN)/ragcov run examples/demo.jsonl --judge offline

test: .venv/.dev
	$(BIN)/python -m pytest -n 2

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

cover: .venv/.dev
	$(BIN)/coverage erase
	COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml COVERAGE_FILE=$(CURDIR)/.coverage $(BIN)/coverage run -m pytest -n 0
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing --fail-under 95

lock: .venv/.installed
	$(PIP) install uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --no-header --no-annotate \
	    --no-emit-index-url --no-emit-package ragcov --output-file requirements-dev.txt --upgrade

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
