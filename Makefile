# Two commands do everything on a fresh machine with Python 3.11+ and make:
#   make demo   environment, install, a crawl of the bundled demo web, its result as a table
#   make test   lint, types and the whole test suite
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint types tests benchmarks clean help
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed ## crawl the bundled demo web with cleaning on and show what came out
	$(BIN)/python -m demo

test: lint types tests ## lint, types and every test, servers included

lint: $(VENV)/.installed ## ruff: rules and formatting; import-linter: what may know what
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --cache-dir .import_linter_cache

types: $(VENV)/.installed ## mypy, strict
	$(BIN)/mypy

tests: $(VENV)/.installed ## pytest, a process per core
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadscope

benchmarks: $(VENV)/.installed ## published figures; PAGES=folder of HTML, GOLD=file of gold text, SITES=folder of sites for those that need data
	$(BIN)/python -m pip install --quiet --editable '.[dev,peers]'
	$(BIN)/python -m benchmarks.speed.smoother
	$(BIN)/python -m benchmarks.speed.fingerprints $(PAGES)
	$(BIN)/python -m benchmarks.faults.crash_resume
	$(BIN)/python -m benchmarks.applications.near_duplicates peers
	$(BIN)/python -m benchmarks.applications.near_duplicates workers
	$(BIN)/python -m benchmarks.applications.near_duplicates kill
	$(BIN)/python -m benchmarks.applications.near_duplicates memory
	$(BIN)/python -m benchmarks.speed.crawl_speed
	$(BIN)/python -m benchmarks.sites.site_counts $(SITES)
	$(BIN)/python -m benchmarks.sites.many_hosts --hosts 66
	$(if $(PAGES),$(BIN)/python -m benchmarks.speed.page_stages $(PAGES))
	$(if $(GOLD),$(BIN)/python -m benchmarks.accuracy.extraction $(GOLD) $(PAGES))
	$(if $(GOLD),$(BIN)/python -m benchmarks.accuracy.template_measures $(GOLD) $(PAGES))
	$(if $(GOLD),$(BIN)/python -m benchmarks.accuracy.smoothing $(GOLD) $(PAGES))
	$(if $(SITES),$(BIN)/python -m benchmarks.accuracy.cross_site $(SITES) --pages-per-site 3)
	$(if $(and $(SITES),$(GOLD)),$(BIN)/python -m benchmarks.accuracy.learning_curve $(SITES) $(GOLD) $(PAGES))
	$(if $(and $(SITES),$(shell command -v chromium)),$(BIN)/python -m benchmarks.layout.geometry $(SITES) --boxes .winnow/boxes)
	$(if $(and $(SITES),$(shell command -v chromium)),$(BIN)/python -m benchmarks.layout.real_geometry $(SITES) --boxes .winnow/boxes)

clean: ## remove what make has made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .scrapy .winnow
