# Everything a person or CI does with this repository. `make` alone prints the menu.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find crates src -name '*.rs' -o -name 'Cargo.toml' 2>/dev/null) \
           Cargo.toml Cargo.lock pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test lint format oracle bench fuzz clean tools

help:
	@echo "make demo     build Vestige and show a real trace with its source lines"
	@echo "make test     all tests; those that need LTTng or a peer say so when it is missing"
	@echo "make lint     ruff, mypy --strict, stubtest, import-linter, cargo fmt, clippy"
	@echo "make oracle   only the comparisons with Babeltrace 2 and addr2line"
	@echo "make bench    time Vestige beside Babeltrace 2 on 3 million events"
	@echo "make fuzz     a minute of fuzzing: metadata, packets, ELF, DWARF"
	@echo "make format   let ruff and rustfmt format the sources"
	@echo "make clean    remove what was built"

# One line for each tool that is missing, and how to get it.
tools:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "make: $(PYTHON) is missing: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is older than 3.11: set PYTHON=python3.11 or newer" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "make: the module venv is missing: apt-get install python3-venv" >&2; exit 1; }
	@command -v cc >/dev/null || \
	  { echo "make: cc is missing: apt-get install gcc libc6-dev" >&2; exit 1; }
	@command -v cargo >/dev/null || \
	  { echo "make: cargo is missing: install Rust 1.85 or newer with rustup" >&2; exit 1; }

$(BIN)/python: | tools
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.backend: | $(BIN)/python
	@$(BIN)/python -m pip install -q 'setuptools>=77' 'setuptools-rust>=1.11'
	@touch $@

$(VENV)/.built: $(SOURCES) | $(VENV)/.backend
	@echo "building the Rust core (about a minute the first time)"
	@$(BIN)/python -m pip install -q --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.backend
	@$(BIN)/python -m pip install -q $$($(BIN)/python tools/dev_requirements.py)
	@touch $@

demo: $(VENV)/.built
	@$(BIN)/vestige demo --no-pager

test: $(VENV)/.built $(VENV)/.dev
	@cargo test -q --release -p vestige-ctf -p vestige-symbols
	@$(BIN)/python -m pytest -q

oracle: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m pytest -q tests/oracle

lint: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/python -m mypy.stubtest vestige._core
	@$(BIN)/lint-imports
	@$(BIN)/python tools/check_sizes.py
	@cargo fmt --check
	@cargo clippy -q --workspace --all-targets -- -D warnings

format: $(VENV)/.dev
	@$(BIN)/ruff check -q --fix-only
	@$(BIN)/ruff format -q
	@cargo fmt

bench: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python tests/bench/bench.py $(BENCH)

fuzz: | tools
	@$(PYTHON) tools/fuzz.py

clean:
	@rm -rf $(VENV) target build dist bench-out src/*.egg-info crates/fuzz/target
	@rm -f src/vestige/_core*.so
