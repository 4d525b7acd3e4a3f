# commitpath: each target is one word of the help; the work is in the folders.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The Makefile runs one thing after another; the things themselves run in parallel.
.NOTPARALLEL:
VENV := .venv
PYTHON := $(VENV)/bin/python
# Ctrl-C waits until there is an answer to it.
COMMITPATH := exec env --block-signal=INT $(PYTHON) -m commitpath
TARGETS := $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)
.PHONY: $(TARGETS)
# Before anything runs: `make experiment f2fs` would first run the default cell.
UNKNOWN := $(filter-out $(TARGETS) $(VENV)/ready,$(MAKECMDGOALS))
$(if $(UNKNOWN),$(error commitpath: $(UNKNOWN): no such target; `make` alone prints all, a setting is NAME=value))

help: $(VENV)/ready ## this text
	@$(COMMITPATH) help

experiment: $(VENV)/ready ## run one cell: make experiment FS=f2fs MODE=wal
	@$(COMMITPATH) experiment

watch: $(VENV)/ready ## run a command on the board under the observers: CMD='sqlite3 a.db "…"' [FILES=…] [PACKAGES=…]
	@$(COMMITPATH) watch

trace-record: $(VENV)/ready ## what a command of this machine does to its databases, as a trace: CMD='…' FILE=new.trace
	@$(COMMITPATH) trace-record

trace-synthetic: $(VENV)/ready ## a synthetic trace as a file, its measures beside the study's: NAME=synthetic-gmail SEED=1 FILE=new.trace
	@$(COMMITPATH) trace-synthetic

plan: $(VENV)/ready ## what a cell is resolved into, as JSON; builds nothing: make plan FS=f2fs MODE=wal
	@$(COMMITPATH) plan

sweep: $(VENV)/ready ## run a grid, or go on with it: make sweep GRID=quick
	@$(COMMITPATH) sweep

reproduce: $(VENV)/ready ## a paper's sweeps, figures and claims, with a verdict on each: PAPER=apsys17
	@$(COMMITPATH) reproduce

results: $(VENV)/ready ## list the results database: make results WHERE='fs=f2fs mode=wal|delete'
	@$(COMMITPATH) results

export: $(VENV)/ready ## a copy to share: make export FILE=here.sqlite LAB=here
	@$(COMMITPATH) export

import: $(VENV)/ready ## merge another lab's copy: make import FILE=there.sqlite
	@$(COMMITPATH) import

compare: $(VENV)/ready ## two sets of runs: make compare A='sqlite=3.46.1' B='sqlite=3.8.11.1'
	@$(COMMITPATH) compare

report-card: $(VENV)/ready ## grade what a run or a paper's parameter list reports: FILE=…
	@$(COMMITPATH) report-card

setup-text: $(VENV)/ready ## "Experimental setup" as text and LaTeX: RUN=… or GRID=…
	@$(COMMITPATH) setup-text

advise: $(VENV)/ready ## settings worth choosing: DEVICE=… FS=… SURVIVE=process|os|power
	@$(COMMITPATH) advise

durability: $(VENV)/ready ## speed over the commits that cuts took: make durability GRID=durability FIGURE=durability.svg [OVER=bytes]
	@$(COMMITPATH) durability

crash-replay: $(VENV)/ready ## one trial again, and a shell on the board as it came up: RUN=… TRIAL=…, or CASE=… [CMD=…]
	@$(COMMITPATH) crash-replay

demo: $(VENV)/ready ## look at a recorded run, with no board: unpacks, analyses and opens it
	@$(COMMITPATH) demo

analyse: $(VENV)/ready ## redo tables, figures and report of a run: make analyse RUN=results/latest
	@$(COMMITPATH) analyse

inspect: $(VENV)/ready ## a page to look at a run, every byte with its cause: make inspect RUN=results/latest
	@$(COMMITPATH) inspect

tree: $(VENV)/ready ## what a transaction made the device do: RUN=… TRANSACTION=<number>|slowest
	@$(COMMITPATH) tree

diff: $(VENV)/ready ## what changed between two runs: make diff RUN_A=… RUN_B=… [FORCE=1]
	@$(COMMITPATH) diff

trace-export: $(VENV)/ready ## a run for other tools: RUN=… FORMAT=perfetto|parquet|csv|blktrace|iolog|all
	@$(COMMITPATH) trace-export

ledger: $(VENV)/ready ## bytes and flushes per transaction over MODE x FS: make ledger FIGURE=ledger.svg [RUNS="results/..."]
	@$(COMMITPATH) ledger

board: $(VENV)/ready ## start the virtual board and open a shell on it
	@$(COMMITPATH) board

board-check: $(VENV)/ready ## what a lab board can do, and what its noise is, in a minute: make board-check BOARD=pi
	@$(COMMITPATH) board-check

calibrate: $(VENV)/ready ## fio on a device profile, beside its sources: make calibrate DEVICE=emmc-5.0
	@$(COMMITPATH) calibrate

emulator: $(VENV)/ready ## build a QEMU that takes less time for the same numbers (up to 10 minutes); used once it is there
	@$(COMMITPATH) emulator

snapshots: $(VENV)/ready ## list prepared boards; REMOVE=<name>|all deletes
	@$(COMMITPATH) snapshots

test: host ## linters, unit tests, the driver under sanitizers, and true runs on the board [ALL=1: unchanged groups, too]
	@tests/run-tests

test-long: host ## what is rare and long: broken device models, another kernel, a sweep killed 20 times, a real Slurm
	@tests/run-tests --long
test-long: export COMMITPATH_SLURM ?= yes
test-long: export COMMITPATH_TESTS := long

lint: host ## linters only
	@tests/lint

bench: host ## what a run costs, with its parts
	@$(PYTHON) tests/bench/bench.py

bench-repeat: host ## how well numbers repeat, beside the limits that it holds
	@$(PYTHON) tests/bench/repeat.py

bench-analysis: host ## speed and memory of the analysis beside blkparse and btt, at 1 and 10 million events
	@$(PYTHON) tests/bench/bench_analysis.py

bench-emulator: host ## Debian's QEMU beside that of `make emulator`: how often its clock is late, and how fast it is
	@$(PYTHON) tests/bench/emulator.py

bench-programs: host ## counts of programs of others, watched, beside those of strace and the kernel
	@$(PYTHON) tests/bench/programs.py

bench-cuts: $(VENV)/ready ## power cuts an hour and where their time goes, beside dm-log-writes [FS=… CUTS=…]
	@exec $(PYTHON) tests/bench/cuts.py

mutations: $(VENV)/ready ## forge recorded runs in every way known, and see whether the analysis is deceived [KIND=… SAMPLE=… SEED=… N=…]
	@exec $(PYTHON) tests/mutations/mutations.py

docs: $(VENV)/ready ## write docs/axes.md from the schema
	@$(PYTHON) -m commitpath.axes_doc > docs/axes.md.part && mv docs/axes.md.part docs/axes.md

host: $(VENV)/ready
	@$(COMMITPATH) host

destroy: $(VENV)/ready ## stop every board and delete all that was built in .cache; .venv and results stay
	@$(COMMITPATH) destroy

requirements: $(VENV)/ready ## pin the Python packages of requirements*.in anew, with hashes
	@for name in requirements-build requirements; do $(VENV)/bin/uv pip compile --quiet --no-cache --universal \
	  --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make requirements' \
	  $$name.in -o $$name.txt || exit; done

$(VENV)/ready: requirements.txt requirements-build.txt playbooks/bootstrap.sh
	@playbooks/bootstrap.sh $(VENV)
