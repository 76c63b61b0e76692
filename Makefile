# `make` lists the targets; the two that matter are `make benchmark` and `make test`.

PYTHON     ?= python3
VENV       := .venv
PY         := $(VENV)/bin/python
INSTALLED  := $(VENV)/.installed
GRID ?= benchmark
# Hydra overrides, e.g. ARGS="algorithm=iforest,lof n_splits=3"
ARGS       ?=
OUTPUT     ?= output
# `make test TESTS=tests/ocrf` runs a part of the suite, JOBS=0 without worker processes.
TESTS      ?=
# One worker more than two cores: a part of the tests waits for what must not happen.
JOBS       ?= 3
# The folders of packed records that REPRODUCTION.md and README.md are made from.
PACKED     := $(filter-out %/ablations %/trials %/benchmarks,$(patsubst %/,%,$(sort $(dir $(wildcard results/runs/*/*.parquet)))))

.DEFAULT_GOAL := help
.PHONY: help setup benchmark replay data tables figures report published theory speed faults test test-minimum lint format lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Create .venv with the locked dependencies

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

benchmark: $(INSTALLED) ## Run a grid and print its tables (GRID=paper ARGS="algorithm=iforest,lof")
	$(PY) -m runners grid=$(GRID) output=$(OUTPUT) $(ARGS); status=$$?; \
	[ $$status -ne 2 ] || exit 2; \
	$(PY) -m results tables --output $(OUTPUT) && exit $$status

replay: $(INSTALLED) ## Replay the paper's tables on three bundled data sets, value by value, without a network
	$(PY) -m runners grid=replayed_bundled output=$(OUTPUT)/replay $(ARGS)
	$(PY) -m results replay --output $(OUTPUT)/replay

data: $(INSTALLED) ## Fetch every data set into the data home, for machines without a network
	$(PY) -m datasets fetch $(ARGS)

tables: $(INSTALLED) ## Write Tables 1, 2 and S1 from the records (LaTeX, Markdown, CSV)
	$(PY) -m results tables --output $(OUTPUT) $(ARGS)

figures: $(INSTALLED) ## Draw the figures from the records (PDF, PNG)
	$(PY) -m results figures --output $(OUTPUT) $(ARGS)

report: $(INSTALLED) ## Write output/report.html from the records
	$(PY) -m results report --output $(OUTPUT) $(ARGS)

published: $(INSTALLED) ## Regenerate results/runs/, REPRODUCTION.md, ABLATIONS.md, BENCHMARKS.md and README.md from the packed records
	for part in tables figures statistics report; do \
	  $(PY) -m results $$part --records results/runs --output results/runs || exit; done
	$(PY) -m results tables --transposed --records results/runs/trials --output results/runs/trials
	$(PY) -m tests.results.update_sentences results/published/goix2016/reasons.csv
	for file in results/REPRODUCTION.md README.md; do \
	  $(PY) -m results reproduction --file $$file --output results/runs \
	    $(addprefix --records ,results/runs $(PACKED)) || exit; done
	$(PY) -m results ablations --file results/ABLATIONS.md --output $(OUTPUT)/ablations \
	  --records results/runs/ablations
	$(PY) -m tests.results.update_sentences
	for name in dte2024 pyod2019; do \
	  $(PY) -m results compare --published $$name --records results/runs/$$name --output results/runs/$$name && \
	  $(PY) -m results standings --published $$name --records results/runs/$$name --output results/runs/$$name \
	    --algorithm oneclassrf || exit; done
	$(PY) -m results benchmarks --file results/BENCHMARKS.md --output results/runs/benchmarks \
	  $(addprefix --records ,results/runs/dte2024 results/runs/pyod2019 results/runs/benchmarks)

theory: $(INSTALLED) ## Draw the paper's illustrations of the method
	$(PY) -m runners.theory --output $(OUTPUT) $(ARGS)

speed: $(INSTALLED) ## Time OneClassRF against isolation forests, and the other algorithms against their originals
	$(PY) -m runners.speed --output $(OUTPUT) $(ARGS)

faults: $(INSTALLED) ## Break experiments in every way the runner must survive, and print what happened
	$(PY) -m tests.faults $(ARGS)

# The suite starts hundreds of processes, which would each translate all sources anew.
test: export PYTHONDONTWRITEBYTECODE =
test: $(INSTALLED) ## Run the whole test suite
	$(PY) -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

test-minimum: ## Test the estimator against the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(VENV)-minimum
	$(VENV)-minimum/bin/python -m pip install --quiet --disable-pip-version-check "pytest<9" hypothesis matplotlib "pandas<3" pyarrow \
	  $$($(PYTHON) -c 'import tomllib; print(*[d.replace(">=", "==") for d in tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]])')
	NUMBA_CACHE_DIR=$(VENV)-minimum/kernels $(VENV)-minimum/bin/python -m pytest --confcutdir tests/ocrf tests/ocrf

lint: $(INSTALLED) ## Check style (ruff), spelling, types (mypy) and import layers
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/codespell .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

format: $(INSTALLED) ## Let ruff format the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

lock: ## Pin the dependencies of pyproject.toml anew in requirements.lock
	$(PY) -m piptools compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
	  --extra harness --extra dask --extra slurm --extra dev --output-file requirements.lock pyproject.toml

clean: ## Remove the environment, run output and caches
	rm -rf $(VENV) $(VENV)-minimum $(OUTPUT) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
