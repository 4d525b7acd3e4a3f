# commitpath: each target is one word of the help. bin/commitpath runs it, here and without make.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The Makefile runs one thing after another; the things themselves run in parallel.
.NOTPARALLEL:
# All before anything runs, or make expands a value. $$ is one $ of the value; every other $ names a
# variable of make's.
GIVEN := $(strip $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name))))
EXPANDED := $(strip $(foreach name,$(GIVEN),$(if $(findstring $$,$(subst $$$$,,$(value $(name)))),$(name))))
$(if $(EXPANDED),$(error commitpath: $(EXPANDED): make replaces what follows a $$; write $$$$ for each $$, or use bin/commitpath, which takes values as they are))
ASSIGNED := $(strip $(foreach name,$(GIVEN),$(if $(filter simple,$(flavor $(name))),$(name))))
$(if $(ASSIGNED),$(error commitpath: $(ASSIGNED): a setting is NAME=value, not NAME:=value))
TARGETS := $(shell sed -n 's/^\([a-z-]*\): \#\# .*/\1/p' Makefile)
# `make experiment f2fs` would first run the default cell
UNKNOWN := $(firstword $(filter-out $(TARGETS),$(MAKECMDGOALS)))
$(if $(UNKNOWN),$(error $(shell bin/commitpath '$(subst ','\'',$(UNKNOWN))' 2>&1)))

help: ## this text
experiment: ## run one cell: make experiment FS=f2fs MODE=wal
watch: ## run a command on the board under the observers: CMD='sqlite3 a.db "…"' [FILES=…] [PACKAGES=…]
trace-record: ## what a command of this machine does to its databases, as a trace: CMD='…' FILE=new.trace
trace-synthetic: ## a synthetic trace as a file, its measures beside the study's: NAME=synthetic-gmail SEED=1 FILE=new.trace
plan: ## what a cell is resolved into, as JSON; builds nothing: make plan FS=f2fs MODE=wal
sweep: ## run a grid, or go on with it: make sweep GRID=quick
reproduce: ## a paper's sweeps, figures and claims, with a verdict on each: PAPER=apsys17
results: ## list the results database: make results WHERE='fs=f2fs mode=wal|delete'
export: ## a copy to share: make export FILE=here.sqlite LAB=here
import: ## merge another lab's copy: make import FILE=there.sqlite
compare: ## two sets of runs: make compare A='sqlite=3.46.1' B='sqlite=3.8.11.1'
report-card: ## grade what a run or a paper's parameter list reports: FILE=…
setup-text: ## "Experimental setup" as text and LaTeX: RUN=… or GRID=…
advise: ## settings worth choosing: DEVICE=… FS=… SURVIVE=process|os|power
figure: ## a figure of a grid that was swept: GRID=… X=page_size METRIC=p99 SERIES=fs FIGURE=out.pdf
durability: ## speed over the commits that cuts took: make durability GRID=durability FIGURE=durability.svg [OVER=bytes]
crash-replay: ## one trial again, and a shell on the board as it came up: RUN=… TRIAL=…, or CASE=… [CMD=…]
demo: ## look at a recorded run, with no board: unpacks, analyses and opens it
analyse: ## redo tables, figures and report of a run: make analyse RUN=results/latest
inspect: ## a page to look at a run, every byte with its cause: make inspect RUN=results/latest
tree: ## what a transaction made the device do: RUN=… TRANSACTION=<number>|slowest
diff: ## what changed between two runs: make diff RUN_A=… RUN_B=… [FORCE=1]
trace-export: ## a run for other tools: RUN=… FORMAT=perfetto|parquet|csv|blktrace|iolog|all
ledger: ## bytes and flushes per transaction over MODE x FS: make ledger FIGURE=ledger.svg [RUNS="results/..."]
board: ## start the virtual board and open a shell on it
board-check: ## what a lab board can do, and what its noise is, in a minute: make board-check BOARD=pi
calibrate: ## fio on a device profile, beside its sources: make calibrate DEVICE=emmc-5.0
emulator: ## build a QEMU that takes less time for the same numbers (up to 10 minutes); used once it is there
snapshots: ## list prepared boards; REMOVE=<name>|all deletes
test: ## linters, unit tests, the driver under sanitizers, and true runs on the board [ALL=1: unchanged groups, too]
test-long: ## what is rare and long: broken device models, another kernel, a sweep killed 20 times, a real Slurm
host: ## install the Debian packages that the tests need, or those of one command before it runs
lint: ## linters only
bench: ## what a run costs, with its parts
bench-repeat: ## how well numbers repeat, beside the limits that it holds
bench-analysis: ## speed and memory of the analysis beside blkparse and btt, at 1 and 10 million events
bench-emulator: ## Debian's QEMU beside that of `make emulator`: how often its clock is late, and how fast it is
bench-programs: ## counts of programs of others, watched, beside those of strace and the kernel
bench-cuts: ## power cuts an hour and where their time goes, beside dm-log-writes [FS=… CUTS=…]
mutations: ## imitate faults of instruments in recorded runs, and see whether the analysis notices [KIND=… SAMPLE=… SEED=… N=…]
docs: ## write docs/reference/axes.md from the schema
destroy: ## stop every board and delete all that was built in .cache; .venv and results stay
requirements: ## pin the Python packages of requirements*.in anew, with hashes

.PHONY: $(TARGETS)
$(TARGETS):
	@exec bin/commitpath --of-make '$(subst ','\'',$(GIVEN))' $@
