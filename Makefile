# Two commands do everything on a fresh machine with Python 3.11+ and make:
#   make demo   environment, install, a crawl of the bundled demo web, its result as a table
#   make test   lint, types and the whole test suite
# What they install is pinned in requirements/locked.txt, which `make lock` brings up to date.
PYTHON  ?= python3
VENV    := .venv
BIN      = $(VENV)/bin
WEIGHTS := detector/tamis/models/weights
PINS    := requirements/locked.txt
PYTHONS := 3.11 3.12 3.13 3.14

.PHONY: demo screenshots test test-engines test-random test-stressed test-all test-lowest test-unreleased coverage lint types tests chromium \
    lock release-check benchmarks docs docs-site docs-version model clean help
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 15

# Modules are compiled when they are first imported: most of those that are installed never are. The core is compiled
# while the dependencies are unpacked.
PIP    = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint $(PINS)
NEEDED = import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
    print(*project["dependencies"], *project["optional-dependencies"]["scrapy"], sep="\n")
$(VENV)/.package: pyproject.toml $(PINS) hatch_build.py $(wildcard detector/tamis/core/source/*.[ch])
	@echo "1/3  Making an environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) hatchling editables setuptools
	@$(BIN)/python -c 'import sys, hatch_build; sys.exit(not hatch_build.find_compiler())' || \
	    $(PIP) ziglang  # a C compiler, where there is none
	@echo "2/3  Compiling the core, and installing Scrapy and what else it needs: half a minute ..."
	@$(BIN)/python -c '$(NEEDED)' > $(VENV)/needed.txt
	@$(PIP) --no-deps --no-build-isolation --editable . & package=$$!; $(PIP) -r $(VENV)/needed.txt && wait $$package
	@touch $@

$(VENV)/.installed: $(VENV)/.package
	$(PIP) 'tamis[dev]'
	touch $@

demo: $(VENV)/.package ## crawl the bundled demo web with cleaning on and show what came out
	@echo "3/3  Crawling a small web ..."
	@$(BIN)/python -m demo

screenshots: $(VENV)/.installed chromium ## the pictures of the documentation, of the demo web in a browser
	$(BIN)/python -m demo --pages 50
	$(BIN)/python -m demo.screenshots

test: lint types tests ## lint, types and every test, servers included

test-engines: $(VENV)/.installed ## the tests with scrapyd, scrapy-redis and Ray, which are slow to start
	$(BIN)/python -m pytest -m engines --numprocesses auto --maxprocesses 4 --dist loadfile

ROUNDS := 10

test-random: $(VENV)/.installed ## the property tests with other examples than those of make test, ROUNDS=10 times
	@for round in $$(seq $(ROUNDS)); do \
	    $(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=default --numprocesses auto || exit; \
	done

SEED := $(shell date +%s)

test-stressed: $(VENV)/.installed chromium ## every test, four at a time on one core, the files in a random order (SEED=...)
	@echo "SEED=$(SEED)"
	taskset --cpu-list 0 $(BIN)/python -m pytest --numprocesses 4 --dist loadscope --no-loadscope-reorder \
	    $$(find tests -name 'test_*.py' | sort | awk 'BEGIN { srand($(SEED)) } { print rand() "\t" $$0 }' | sort | cut -f 2)

test-all: ## make test on every Python that is found, 3.11 to 3.14, each in an environment of its own
	@for version in $(PYTHONS); do \
	    if ! found=$$(.ci/find-python $$version); then echo "== Python $$version: not found"; continue; fi; \
	    echo "== Python $$version: $$found"; \
	    $(MAKE) test PYTHON="$$found" VENV=.venv-$$version || exit; \
	done

test-lowest: ## every test with the lowest versions of the dependencies that pyproject.toml allows
	$(MAKE) tests VENV=.venv-lowest PINS=requirements/lowest.txt

SCRAPY := https://github.com/scrapy/scrapy/archive/refs/heads/master.zip

test-unreleased: ## the tests of the plugin with the Scrapy to come, in an environment of its own
	$(MAKE) .venv-unreleased/.installed VENV=.venv-unreleased
	.venv-unreleased/bin/python -m pip install --quiet --upgrade $(SCRAPY)
	.venv-unreleased/bin/python -m pytest tests/scrapy_tamis tests/demo --numprocesses auto --maxprocesses 8 \
	    --dist loadscope --no-loadscope-reorder

coverage: $(VENV)/.installed chromium ## which lines and branches no test runs, in htmlcov/, processes that tests start included
	$(PIP) pytest-cov
	$(BIN)/python -m pytest --cov --cov-report html --cov-report term:skip-covered --numprocesses auto --maxprocesses 8 \
	    --dist loadscope --no-loadscope-reorder

lint: $(VENV)/.installed ## ruff: rules and formatting; import-linter: what may know what
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --cache-dir .import_linter_cache

types: $(VENV)/.installed ## mypy, strict
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases benchmarks

chromium: ## the browser that tests drive, where there is none yet: Debian's, as root or with sudo
	-@sh .ci/install-chromium.sh || echo "Install chromium, or the tests of the browser will fail." >&2

tests: export PYTHONDONTWRITEBYTECODE =  # or each of its many processes compiles every module anew
tests: $(VENV)/.installed chromium ## pytest, in one process more than there are cores
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadscope --no-loadscope-reorder

UV_COMPILE = .venv-lock/bin/uv pip compile pyproject.toml --quiet --upgrade --python-version 3.11 \
    --no-annotate --custom-compile-command 'make lock'

lock: ## pin the newest versions that the suite runs with, and the lowest ones that make test-lowest does
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade uv
	echo ziglang | $(UV_COMPILE) - --universal --extra dev --extra peers --extra release --output-file requirements/locked.txt
	$(UV_COMPILE) --extra archives --extra metrics --extra s3 --extra train --resolution lowest-direct --output-file .venv-lock/lowest.txt
	$(UV_COMPILE) --extra dev --constraint .venv-lock/lowest.txt --output-file requirements/lowest.txt

release-check: $(VENV)/.installed ## build what is to be published, check it, install it into every Python found, run the demo there
	$(PIP) --no-build-isolation --editable '.[dev,release]'
	.ci/release-check $(BIN)/python $(PYTHONS)

benchmarks: $(VENV)/.installed ## published figures; PAGES=folder of HTML, GOLD=file of gold text, SITES=folder of sites for those that need data
	$(PIP) --no-build-isolation --editable '.[dev,peers]'
	$(BIN)/python -m benchmarks.speed.crawl_speed
	$(BIN)/python -m benchmarks.scale.fleet counting
	$(BIN)/python -m benchmarks.scale.fleet million
	$(BIN)/python -m benchmarks.speed.page_stages $(PAGES)
	$(BIN)/python -m benchmarks.faults.core_fuzzing $(PAGES)
	$(if $(SITES),$(BIN)/python -m benchmarks.applications.near_duplicates $(SITES))
	$(if $(SITES),$(BIN)/python -m benchmarks.sites.site_counts $(SITES))
	$(if $(GOLD),$(BIN)/tamis evaluate $(GOLD) --pages $(PAGES))

docs: $(VENV)/.installed ## the pages and tables of the reference, from the code
	$(BIN)/python -m docs.reference.api
	$(BIN)/python -m docs.reference.tables

docs-site: $(VENV)/.installed ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --site-dir site

docs-version: $(VENV)/.installed ## the same as VERSION="0.3 latest" beside those of other versions, in the branch gh-pages
	PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/mike deploy --update-aliases --alias-type copy $(VERSION)
	$(if $(filter latest,$(VERSION)),$(BIN)/mike set-default latest)

model: $(VENV)/.installed ## the weights that the package comes with, from DATA=folder with sites-train/, sites-dev/, sites-gold.jsonl, wcxb-dev/ and articles/
	$(BIN)/python -m benchmarks.accuracy.train_weights $(DATA)
	$(BIN)/tamis train $(DATA)/sites-train -o $(WEIGHTS)/blocks-self-taught.npz --marks --sources $(WEIGHTS)/sources/sites.md
	$(BIN)/tamis train $(DATA)/sites-train -o detector/tamis_papers/weights/logistic.npz --model logistic --sources $(WEIGHTS)/sources/sites.md

clean: ## remove what make has made
	rm -rf .venv .venv-* site htmlcov .coverage* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .scrapy .tamis
