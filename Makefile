# make install   .venv with everything for development
# make demo      draw, shred and reconstruct a few pages into demo/; needs no torch
# make test      lint, types, import layers and tests, as CI runs them
# make clean     remove .venv and caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
DEMO ?= demo

.PHONY: install demo test lint clean

install: $(VENV)/dev.stamp

demo: $(VENV)/core.stamp
	$(BIN)/deshred demo --output $(DEMO) --force

test: $(VENV)/dev.stamp lint
	$(BIN)/pytest -n 2

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[dev]"
	touch $(VENV)/core.stamp $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
