# commitpath: each target is one word of the help; the work is in the folders.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The Makefile runs one thing after another; the things themselves run in parallel.
.NOTPARALLEL:
VENV := .venv
PYTHON := $(VENV)/bin/python
RUN := $(PYTHON) -m commitpath
.PHONY: help experiment test lint board calibrate snapshots analyse bench bench-repeat docs host destroy

help: $(VENV)/ready ## this text
	@$(RUN) help

experiment: $(VENV)/ready ## run one cell: make experiment FS=f2fs MODE=wal
	@$(RUN) experiment

analyse: $(VENV)/ready ## redo tables, figures and report of a run: make analyse RUN=results/latest
	@$(RUN) analyse

board: $(VENV)/ready ## start the virtual board and open a shell on it
	@$(RUN) board

calibrate: $(VENV)/ready ## fio on a device profile, beside its sources: make calibrate DEVICE=emmc-5.0
	@$(RUN) calibrate

snapshots: $(VENV)/ready ## list prepared boards; REMOVE=<name>|all deletes
	@$(RUN) snapshots

test: host ## linters, unit tests, the driver under sanitizers, and a true run on the board
	@tests/run-tests

lint: host ## linters only
	@tests/lint

bench: host ## what a run costs, with its parts
	@$(PYTHON) tests/bench/bench.py

bench-repeat: host ## how well numbers repeat, side by side with what was asked
	@$(PYTHON) tests/bench/repeat.py

docs: $(VENV)/ready ## write docs/axes.md from the schema
	@$(PYTHON) -m commitpath.axes_doc > docs/axes.md.part && mv docs/axes.md.part docs/axes.md

host: $(VENV)/ready
	@$(RUN) host

destroy: $(VENV)/ready ## stop every board and delete all that was built; results stay
	@$(RUN) destroy

$(VENV)/ready: requirements.txt playbooks/bootstrap.sh
	@playbooks/bootstrap.sh $(VENV)
