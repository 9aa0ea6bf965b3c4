# Each target sets up what it needs; nothing has to be installed by hand beyond Python 3.11+, git, make and a C compiler.

PYTHON ?= $(shell sh deploy/find-python.sh)
BIN := .venv/bin
DEMO_ARGS ?=
BENCH_KB_ARGS ?=
EVALUATE_ARGS ?=
TEST_WORKERS ?= 4
STRESS_ARGS ?=
FUZZ_S ?= 600

.PHONY: demo test test-slow test-accurate check bench bench-kb evaluate stress fuzz sbom licences settings messages pictures format lock clean help

help:
	@echo "make demo    set everything up and open the desk on sample posts (DEMO_ARGS='--chat-model none' for no model)"
	@echo "make test    run the tests, in TEST_WORKERS=4 processes"
	@echo "make test-slow  kills, scale, load, long races, and the large models' libraries in an environment of their own"
	@echo "make test-accurate  only the large models' libraries"
	@echo "make check   lint, types, import directions, claims and facts on file"
	@echo "make bench   measure speed on this machine, strategies beside the papers' too (BENCH_DRAFTS_ARGS=\"--posts 10\")"
	@echo "make bench-kb  measure the evidence search: hit rates, ablation, scale (BENCH_KB_ARGS=--quick: no scale)"
	@echo "make evaluate  draft for the shipped posts, score, and write a report (EVALUATE_ARGS='--chat-model none' for no model)"
	@echo "make stress  load and faults at once, with an exit code by limits (STRESS_ARGS=…, see docs/stress.md)"
	@echo "make fuzz    random input for gateway, records, guard and extraction, FUZZ_S=600 seconds each"
	@echo "make sbom    list the locked dependencies for machines (CycloneDX); make licences: docs/licences.md"
	@echo "make messages  bring the catalogues of the interface's languages up to date with the source"
	@echo "make pictures  draw every state of the desk's page anew for docs/moderators.md (needs Chromium)"
	@echo "make settings  write docs/settings.md and the messages' schemas anew"
	@echo "make format  format the code"
	@echo "make lock    lock the dependencies anew"

demo: .venv/run
	@exec $(BIN)/rejoinder demo $(DEMO_ARGS)

test: .venv/dev
	@sh deploy/test-programs.sh
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --no-loadscope-reorder

# One after the other: what is killed or measured under load shares the machine with nothing.
test-slow: .venv/dev
	@sh deploy/test-programs.sh
	$(BIN)/python -m pytest -m slow
	@$(MAKE) --no-print-directory test-accurate

test-accurate:
	@sh deploy/test-accurate.sh "$(PYTHON)"

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/rejoinder kb claims check
	@sh deploy/audit.sh

stress: .venv/dev
	$(BIN)/rejoinder stress $(STRESS_ARGS)

fuzz: .venv/dev
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_S)

sbom: .venv/run
	@sh deploy/audit.sh sbom

licences: .venv/run
	$(BIN)/python deploy/licences.py > docs/licences.md

bench: .venv/dev
	$(BIN)/rejoinder bench speed
	$(BIN)/rejoinder bench drafts $(BENCH_DRAFTS_ARGS)

bench-kb: .venv/dev
	$(BIN)/rejoinder bench kb $(BENCH_KB_ARGS)

evaluate: .venv/dev
	$(BIN)/rejoinder evaluate all $(EVALUATE_ARGS)

settings: .venv/run
	$(BIN)/rejoinder settings --markdown > docs/settings.md
	$(BIN)/python -c 'from core.contract import replies_schema; print(replies_schema(), end="")' > docs/replies.schema.json
	$(BIN)/python -c 'from core.contract import outcomes_schema; print(outcomes_schema(), end="")' > docs/outcomes.schema.json

# What is new stands in the catalogues untranslated, and a test fails until it is translated; what is gone leaves them.
messages: .venv/dev
	@mkdir -p build
	cd bot && ../$(BIN)/pybabel --quiet extract --mapping-file=locales/babel.cfg --keywords=t --keywords=tn:1,2 \
		--no-wrap --add-location=file --project=Rejoinder --output=../build/rejoinder.pot .
	$(BIN)/pybabel --quiet update --domain=rejoinder --input-file=build/rejoinder.pot --output-dir=bot/locales \
		--no-fuzzy-matching --ignore-obsolete --no-wrap --ignore-pot-creation-date

pictures: .venv/dev
	$(BIN)/python -m tests.bot.live.picture docs/images

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: .venv/dev
	sh deploy/lock.sh

clean:
	rm -rf .venv .venv-accurate .venv-audit build ./*.egg-info

# Stamps: `run` is what the program needs, `dev` adds what tests and checks need. A changed lock file installs again.
.venv/bin/python:
	@sh deploy/make-venv.sh "$(PYTHON)"

.venv/run: .venv/bin/python requirements/run.txt pyproject.toml
	@echo "Installing Rejoinder and its locked dependencies into .venv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv/dev: .venv/run requirements/dev.txt
	@echo "Installing what tests and checks need …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@
