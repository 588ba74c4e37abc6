# `make demo` sets up and searches a real repository; `make test` sets up and runs the whole check.

PYTHON ?= python3
REPO ?= .
QUERY ?= how is a damaged index repaired
export REPO QUERY

BIN := .venv/bin
UV := $(or $(shell command -v uv 2>/dev/null),.tools/bin/uv)

.PHONY: man vendor demo demo-ui test test-agents install develop format lint types layers unit coverage bench clean

demo: install
	$(BIN)/cairn index -C "$$REPO"
	$(BIN)/cairn search "$$QUERY" -C "$$REPO" -n 5
	@echo "To use it in your projects: uv tool install . (or: pipx install .), and then in each: cairn init"

# A throw-away project with three weeks of sessions, on the pages of a daemon of its own.
demo-ui: install
	$(BIN)/python bench/three_weeks.py

test: lint types layers unit

install: $(UV)
	$(UV) sync --quiet --locked --inexact --no-dev --compile-bytecode --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@$(BIN)/python -m compileall -q src

develop: $(UV)
	$(UV) sync --quiet --locked --inexact --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"

.tools/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet uv

format: develop
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lint: develop
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: develop
	$(BIN)/mypy

layers: develop
	$(BIN)/lint-imports

# The mark shows that pytest came to its end: a test that ended the process would look like success. Tests of processes,
# sockets and browsers share two cores: one that fails is run once more, and is listed as RERUN, to be mended. In the
# order of their names the files that take longest come first, so that no worker waits for another at the end.
unit: develop
	rm -f .pytest_cache/ended && mkdir -p .pytest_cache
	CAIRN_TESTS_ENDED=$(CURDIR)/.pytest_cache/ended $(BIN)/python -m pytest -raR $(MEASURED) --numprocesses 2 --dist loadfile \
		--no-loadscope-reorder --reruns 1
	@cat .pytest_cache/ended

# The same tests, with which lines and branches run: in the processes of the tests that doubles their time.
coverage:
	$(MAKE) unit MEASURED=--cov

# The manual page, as `cairn completions man` prints it.
man: install
	@mkdir -p build
	$(BIN)/cairn completions man > build/cairn.1

# Real agents against a scripted model; they take a gigabyte and more, so `make test` does without them.
test-agents: develop
	mkdir -p .agents
	npm install --prefix .agents --no-audit --no-fund --no-package-lock $$(cat tests/agents/versions.txt)
	$(BIN)/python -m pytest tests/agents

# The files of others that the dashboard carries, from npm again; a test compares them with vendored.json.
vendor:
	rm -rf build/vendor && mkdir -p build/vendor
	cd build/vendor && npm pack --silent htmx.org@4.0.1 && tar xzf htmx.org-4.0.1.tgz
	cp build/vendor/package/dist/htmx.min.js build/vendor/package/dist/ext/hx-csp.min.js src/cairn/dashboard/static/
	cp build/vendor/package/LICENSE src/cairn/dashboard/static/htmx-LICENSE.txt

clean:
	rm -rf .venv .tools .agents .cairn dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
