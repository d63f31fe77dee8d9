# Two commands: `make demo` and `make test`. Each sets up .venv first if it must.

PYTHON ?= python3
DEMO_DIR ?= build/demo
MARK ?= not slow
PROCESSORS ?= haswell nehalem
PROCESSOR_TESTS ?= tests/oracles tests/laws tests/solvers tests/estimators tests/conformance
RACE ?=
FUZZ ?= csv json_lines any_table svmlight trees graphs database kernel_expression \
	model_file sealed_model libsvm_model svmlight_model liblinear_model
FUZZ_SECONDS ?= 60
CAMPAIGN_SECONDS ?= 600
VERSIONS ?= python3.12 python3.13 oldest
MUTANTS ?= problems exchange solvers
MUTANTS_SECONDS ?= 3600

# What is most sensitive to the rounding of numbers, in minutes.
ROUNDING_TESTS := tests/oracles tests/laws \
	tests/solvers/dual_qp/test_decomposition.py tests/solvers/smooth/test_optimal_bias.py tests/estimators/svm/test_crammer_singer.py

VENV := .venv
BIN := $(VENV)/bin

# A test worker is one of two processes; were BLAS to start a thread for every core in
# each of them, they would fight. Mercer's own threads are not affected.
ONE_BLAS_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
TESTING := $(ONE_BLAS_THREAD) SCIPY_ARRAY_API=1 MPLBACKEND=Agg
PYTEST := $(BIN)/python -m pytest -q -n 2 -m "$(MARK)"

# What happens to be on the path of whoever calls must not change what is tested.
unexport PYTHONPATH
unexport PYTHONHOME

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo studio test test-processors sample-processors test-versions mutants lint race fuzz campaign docs pages wheel clean
# Without this, make would remove the stamps of pattern rules as intermediate files.
.PRECIOUS: $(VENV)/.installed-%

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.installed-plot ## train on digits, texts and a table, write reports to look at
	@$(BIN)/mercer compile tables texts
	@$(BIN)/mercer demo --output $(DEMO_DIR)

studio: $(VENV)/.installed-studio ## open the page on which machines are drawn and watched
	@$(BIN)/mercer studio

test: lint programs ## style, types, layers and every test (MARK=slow for the long ones)
	$(TESTING) $(PYTEST) $(PYTEST_ARGS)

test-processors: $(VENV)/.installed-test ## the tests that compute, as on other processors (PROCESSORS="zen skylakex" for those)
	@failed=; for processor in $(PROCESSORS); do \
		echo "as on $$processor"; \
		$(TESTING) $(BIN)/python -m tests.processors $$processor $(PYTEST) $(PROCESSOR_TESTS) $(PYTEST_ARGS) || \
			failed="$$failed $$processor"; \
	done; test -z "$$failed" || { echo "failed as on:$$failed" >&2; exit 1; }

sample-processors: ## some minutes of test-processors: what is most sensitive to rounding
	@$(MAKE) --no-print-directory test-processors PROCESSOR_TESTS="$(ROUNDING_TESTS)"

# Tests drive Debian's chromium, talk to PostgreSQL and MariaDB servers of their own, and compare files with LIBSVM's and
# LIBLINEAR's own programs. Where one is missing, root can have it; anybody else is told.
.PHONY: programs
programs:
	@test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
		{ command -v "$${CHROMIUM:-chromium}" && command -v svm-train && command -v liblinear-train && \
			ls /usr/lib/postgresql/*/bin/postgres /usr/sbin/mariadbd; } >/dev/null 2>&1 || \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends \
			chromium libsvm-tools liblinear-tools postgresql mariadb-server >/dev/null; }

lint: $(VENV)/.installed-test lint-page ## style, types and layers only
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The Studio's page needs no build and no package; what judges its JavaScript is npm's. Continuous integration (CI=true)
# insists on it, a desk without npm goes on without.
.PHONY: lint-page
lint-page:
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory node_modules/.installed && npm run --silent lint; \
	elif test "$$CI" = true; then \
		echo "npm is missing: the page's JavaScript cannot be checked" >&2; exit 1; \
	else \
		echo "npm is missing: the page's JavaScript is not checked here (Debian: apt install npm)" >&2; \
	fi

node_modules/.installed: package.json package-lock.json
	@npm ci --silent --ignore-scripts
	@touch $@

race: $(VENV)/.installed-peers ## time Mercer against its peers on this machine; fails where a goal is missed
	$(BIN)/python -m benchmarks.race $(RACE)

fuzz: $(VENV)/.installed-fuzz ## hostile input for every reader (FUZZ=libsvm_model FUZZ_SECONDS=600 for one, longer)
	for target in $(FUZZ); do \
		$(ONE_BLAS_THREAD) $(BIN)/python -m tests.fuzz $$target --seconds $(FUZZ_SECONDS) || exit 1; \
	done

test-versions: ## core tests on other Pythons and the oldest versions (VERSIONS="python3.12 oldest")
	$(ONE_BLAS_THREAD) SCIPY_ARRAY_API=1 MPLBACKEND=Agg $(PYTHON) -m tests.versions $(VERSIONS)

mutants: $(VENV)/.installed-test ## do the tests notice faults put in on purpose? (MUTANTS=problems MUTANTS_SECONDS=600)
	for room in $(MUTANTS); do \
		$(ONE_BLAS_THREAD) SCIPY_ARRAY_API=1 MPLBACKEND=Agg $(BIN)/python -m tests.mutants $$room \
			--seconds $(MUTANTS_SECONDS) || exit 1; \
	done
	$(BIN)/python -m tests.mutants --report

campaign: $(VENV)/.installed-test ## random problems for every estimator, judged by an oracle (CAMPAIGN_SECONDS=3600 for longer)
	$(ONE_BLAS_THREAD) $(BIN)/python -m tests.campaign --seconds $(CAMPAIGN_SECONDS)

docs: $(VENV)/.installed-docs ## build the documentation into docs/_build/html
	MPLBACKEND=Agg $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# Without running the examples, so without their pictures: in a minute, whether every page and docstring can be laid out.
pages: $(VENV)/.installed-docs ## the documentation without its gallery
	MPLBACKEND=Agg $(BIN)/sphinx-build -W --keep-going -q -D plot_gallery=0 -D suppress_warnings=image.not_readable \
		-b html docs build/pages

# Code for each level of the instruction set that this processor has; Numba is told to compile for no more than that.
wheel: $(VENV)/.installed-plot ## a wheel for this Python and kind of processor that carries compiled code, in dist/
	@for level in $$($(BIN)/python -c 'from mercer._jit.kept_code import levels_of_processor as l; print(*l())'); do \
		echo "compiling for $$level"; \
		NUMBA_CPU_NAME=$$level NUMBA_CPU_FEATURES= MERCER_CACHE_DIR=build/compiled/$$level $(BIN)/mercer compile || exit 1; \
	done
	MERCER_COMPILED=build/compiled $(BIN)/python -m pip wheel -q --no-deps --no-build-isolation -w dist .
	@ls -sh dist/*.whl

clean: ## remove everything the commands produced, .venv included
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/generated docs/sg_execution_times.rst
	rm -rf .hypothesis .import_linter_cache .mypy_cache node_modules .pytest_cache .ruff_cache
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of extras. The build backend is installed first, pinned like
# everything else, so that nothing is fetched that constraints.txt does not name.
$(VENV)/.installed-%: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Mercer needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) for '$*' (once, about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq -c constraints.txt hatchling editables setuptools wheel
	@$(BIN)/python -m pip install -qq -c constraints.txt --no-build-isolation -e '.[$*]'
	@touch $@
