# make install   .venv with everything for development
# make demo      draw, shred and reconstruct a few pages into demo/; needs no torch
# make test      lint, types, import layers and tests, as CI runs them
# make fuzz      40,000 damaged files and the bombs, with counts, seconds and memory
# make faults    commands killed, or without disk, at every change they make; takes half an hour
# make clean     remove .venv and caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
DEMO ?= demo

.PHONY: install demo test lint system fuzz faults clean

install: $(VENV)/dev.stamp

demo: $(VENV)/core.stamp
	$(BIN)/deshred demo --output $(DEMO) --force

test: $(VENV)/dev.stamp system lint
	$(BIN)/pytest -n 2

# what tests need beside Python: found, or installed where we may, or its absence said aloud
system:
	@bash tests/system-packages

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(VENV)/dev.stamp
	$(BIN)/python -m tests.fuzz.bombs --write docs/reliability.md
	$(BIN)/python -m tests.fuzz.campaign --count 40000 --write docs/reliability.md

faults: $(VENV)/dev.stamp
	$(BIN)/python -m tests.faults.kills --write docs/reliability.md
	$(BIN)/python -m tests.faults.reviews --count 100 --write docs/reliability.md

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
