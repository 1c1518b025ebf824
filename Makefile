# Everything sets itself up: a virtual environment in .venv, with the exact versions of constraints.txt. Another Python or
# other versions, such as `make test PYTHON=python3.13` or `make test CONSTRAINTS=constraints-lowest.txt`, make it anew.
PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
BIN = .venv/bin
ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
SENSITIVE = tests/rules/test_aspiration.py tests/rules/test_rules.py tests/gp/test_models.py tests/acquisition/test_optimise.py tests/study/test_pruned.py
PIP_QUIET = PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_WARN_SCRIPT_LOCATION=1

.PHONY: demo test test-cpus test-cpus-fast test-slow test-bench test-faults fuzz mutants coverage check docs reproduce bench-env bench lock clean

SETUP = $(shell $(PYTHON) -c 'import sys; print(sys._base_executable)') $(CONSTRAINTS)
ifneq ($(shell cat .venv/ready 2>/dev/null),$(SETUP))
.PHONY: .venv/ready
endif

.venv/ready: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "satisfice needs Python 3.11 or newer")'
	$(PYTHON) -m venv --clear .venv
	$(PIP_QUIET) $(BIN)/pip install --quiet --constraint $(CONSTRAINTS) --editable '.[dev,experiments,cluster,postgres,sklearn,push,tuning,excel,serve,control]'
	echo '$(SETUP)' > $@

demo: .venv/ready  ## find a robot push within 0.25 of its goal, without noise and with, and write the report
	$(ONE_THREAD) $(BIN)/python examples/push.py

test: .venv/ready  ## all tests that take seconds
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not faults" -q -rs

test-cpus: .venv/ready  ## what could come out differently on another processor, as several of them (tens of minutes)
	$(BIN)/python bench/cpus.py -- $(BIN)/python -m pytest -n 2 -m "cpu and not slow and not faults" -q

test-cpus-fast: .venv/ready  ## the most sensitive of these tests, as one old processor
	$(BIN)/python bench/cpus.py --only Sandybridge -- $(BIN)/python -m pytest -n 2 -m "cpu and not slow" -q $(SENSITIVE)

test-slow: .venv/ready  ## the statistical tests that take minutes
	EXPLORE=1 $(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m slow -q

test-faults: .venv/ready  ## kills, full disks, crashes, attacks (most of an hour); writes docs/evidence/reliability.md
	$(PIP_QUIET) $(BIN)/pip install --quiet --editable '.[faults]'
	TMPDIR=$$(test -w /dev/shm && echo /dev/shm || echo /tmp) $(ONE_THREAD) $(BIN)/python -m pytest -m faults -q tests/faults; status=$$?; $(BIN)/python bench/write_reliability.py; exit $$status

fuzz: .venv/ready  ## a minute of coverage-guided fuzzing of what the command line reads
	$(PIP_QUIET) $(BIN)/pip install --quiet --editable '.[faults]'
	$(ONE_THREAD) $(BIN)/python tests/faults/fuzz_cli.py 60

mutants: .venv/ready  ## how many small changes of the formulas the tests notice (an hour); the tool needs an older pytest
	$(PYTHON) -m venv .venv-mutants
	$(PIP_QUIET) .venv-mutants/bin/pip install --quiet --constraint constraints.txt '.[experiments]' hypothesis mpmath scikit-learn
	$(PIP_QUIET) .venv-mutants/bin/pip install --quiet 'mutmut>=3.8,<4' 'pytest>=8.3,<9'
	$(ONE_THREAD) .venv-mutants/bin/python -m mutmut run --max-children 2
	.venv-mutants/bin/python -m mutmut results

coverage: .venv/ready  ## the lines that the quick tests reach
	$(PIP_QUIET) $(BIN)/pip install --quiet --editable '.[faults]'
	$(ONE_THREAD) $(BIN)/python -m coverage run --source=src/satisfice -m pytest -m "not slow and not faults" -q
	$(BIN)/python -m coverage report --skip-covered --show-missing

reproduce: .venv/ready  ## go on with every experiment of the paper from the kept records, then write docs/reproduction.md (hours)
	$(BIN)/python -m satisfice.paper.experiments.document --restore
	$(BIN)/satisfice reproduce all
	$(BIN)/python -m satisfice.paper.experiments.document

check: .venv/ready  ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/docs: .venv/ready
	$(PIP_QUIET) $(BIN)/pip install --quiet --constraint $(CONSTRAINTS) --editable '.[docs]'
	touch $@

docs: .venv/docs  ## the site, into out/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.venv-bench/ready: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	$(PIP_QUIET) .venv-bench/bin/pip install --quiet torch==2.13.0
	$(PIP_QUIET) .venv-bench/bin/pip install --quiet torch==2.13.0 botorch==0.18.1 optuna==5.0.0 greenlet==3.5.6 cmaes==0.13.1 ax-platform==1.3.1 \
		smac==2.4.1 bayesian-optimization==3.4.0 coco-experiment==2.8.2 cma==4.5.0 Py-BOBYQA==1.5.0 nevergrad==1.0.12 scikit-learn==1.9.1 joblib==1.6.0 --editable '.[experiments,push,sklearn,tuning]'
	touch $@

bench-env: .venv-bench/ready  ## the peers, in an environment of their own

test-bench: bench-env  ## what the benches take from BoTorch is what BoTorch does
	$(PIP_QUIET) .venv-bench/bin/pip install --quiet --constraint $(CONSTRAINTS) pytest hypothesis
	.venv-bench/bin/python -m pytest -q tests/bench/test_botorch_direct.py

bench: bench-env  ## seconds for one suggestion, beside the peers
	.venv-bench/bin/python bench/step_time.py --cpu --json bench/results/step_time.json

lock:  ## write constraints.txt anew from the ranges in pyproject.toml
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet '.[dev,experiments,cluster,postgres,sklearn,push,tuning,excel,serve,control,docs]'
	.venv-lock/bin/pip freeze --exclude satisfice | sed '/^satisfice/d' > constraints.txt
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-bench .venv-mutants mutants .coverage out
