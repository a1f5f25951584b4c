# `make demo` and `make test` need Python 3.11 or newer and nothing else: they make their own environment in .venv.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/.installed

export OMP_NUM_THREADS = 1

.PHONY: demo test docs wheel lint bench papers schema clean papers-check walks coverage

demo: $(INSTALLED)
	$(BIN)/discreet demo

test: lint
	$(BIN)/pytest -n 2 --dist loadgroup

docs: $(INSTALLED)
	$(BIN)/python scripts/build_docs.py

wheel: $(INSTALLED)
	$(BIN)/python scripts/try_wheel.py

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --config-file mypy-tests.ini --cache-dir .mypy_cache/tests

bench: $(INSTALLED)
	@set -e; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file; done

ITEM ?= all
papers: $(INSTALLED)
	$(BIN)/discreet papers run $(ITEM)

schema: $(INSTALLED)
	$(BIN)/python -m discreet.protocol.schema

papers-check: $(INSTALLED)
	$(BIN)/python scripts/check_papers.py $(ITEM)

walks: $(INSTALLED)
	$(BIN)/python scripts/walks.py

coverage: $(INSTALLED)
	$(BIN)/pytest -n 2 --cov=discreet --cov-report=term:skip-covered

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "discreet needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[papers,dev]'
	touch $@
