# Targets and their help. Each runs bin/commitpath, which works without make too.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# Targets run one after another; each is parallel inside.
.NOTPARALLEL:
# `make -f` elsewhere would find nothing
$(if $(wildcard bin/commitpath),,$(error commitpath: make runs in the checkout: make -C <checkout>, or its bin/commitpath from anywhere))
# Checked before make expands a value: in a value, $$ is one $, and any other $ names a make variable.
GIVEN := $(strip $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name))))
EXPANDED := $(strip $(foreach name,$(GIVEN),$(if $(findstring $$,$(subst $$$$,,$(value $(name)))),$(name))))
$(if $(EXPANDED),$(error commitpath: $(EXPANDED): make replaces what follows a $$; write $$$$ for each $$, or use bin/commitpath, which takes values as they are))
ASSIGNED := $(strip $(foreach name,$(GIVEN),$(if $(filter simple,$(flavor $(name))),$(name))))
$(if $(ASSIGNED),$(error commitpath: $(ASSIGNED): a setting is NAME=value, not NAME:=value))
TARGETS := $(shell sed -n 's/^\([a-z-]*\): \#\# .*/\1/p' Makefile)
# `make help experiment`: what follows help is what it is about
TOPIC := $(if $(filter help,$(firstword $(MAKECMDGOALS))),$(wordlist 2,9,$(MAKECMDGOALS)))
LATE := $(if $(TOPIC),,$(filter help,$(wordlist 2,9,$(MAKECMDGOALS))))
$(if $(LATE),$(error commitpath: write make help $(firstword $(MAKECMDGOALS))))
UNHELPED := $(filter-out $(TARGETS) all man completion,$(TOPIC))
$(if $(UNHELPED),$(error $(shell bin/commitpath help '$(subst ','\'',$(TOPIC))' 2>&1)))
# without this, `make experiment f2fs` would run the default cell first
UNKNOWN := $(firstword $(filter-out $(TARGETS) $(TOPIC),$(MAKECMDGOALS)))
$(if $(UNKNOWN),$(error $(shell bin/commitpath '$(subst ','\'',$(UNKNOWN))' 2>&1)))

help: ## what people use daily; `make help TARGET`: its variables; `make help all`: all of this
experiment: ## run one cell: make experiment FS=f2fs MODE=wal
watch: ## run a command on the board under the observers: CMD='sqlite3 a.db "…"' [FILES=…] [PACKAGES=…]
bisect: ## find the first release with another number: AXIS=sqlite GOOD=3.8.11.1 BAD=3.46.1 METRIC=flushes.update
trend: ## compare several values of an axis, the first that differs marked: AXIS=kernel VALUES='6.1|6.12' FS=f2fs
trace-record: ## record what a command on this machine does to its databases: CMD='…' FILE=new.trace
trace-synthetic: ## write a synthetic trace, compare its statistics with the study's: NAME=synthetic-gmail SEED=1 FILE=new.trace
plan: ## print a cell's resolved configuration as JSON; builds nothing: make plan FS=f2fs MODE=wal
sweep: ## run or continue a grid: make sweep GRID=quick
reproduce: ## run a paper's sweeps, figures and claims, with a verdict on each: PAPER=apsys17
results: ## list the results database: make results WHERE='fs=f2fs mode=wal|delete'
export: ## copy the results database for sharing: make export FILE=here.sqlite LAB=here
import: ## merge another lab's copy, or the shipped runs: make import FILE=experiments/reference.tar.xz
artifact: ## archive a grid's runs, setup and figures for an artifact evaluation: GRID=quick FILE=new.tar.gz LAB=here
compare: ## compare two sets of runs: make compare A='grid=reference fs=f2fs' B='grid=reference fs=ext4-ordered'
report-card: ## grade what a run or a paper's parameter list reports: FILE=…
setup-text: ## "Experimental setup" as text and LaTeX: RUN=… or GRID=…
advise: ## recommend settings: make advise DEVICE=emmc-5.0 FS=ext4-ordered SURVIVE=power
figure: ## draw a metric over an axis of a swept grid: make figure GRID=ledger X=fs METRIC=kib SERIES=mode FACET=sync FIGURE=out.pdf
table: ## print a swept grid's numbers: make table GRID=ledger FORMAT=latex
durability: ## plot speed against lost commits: make durability GRID=durability FIGURE=out.svg [OVER=bytes]
hunt: ## draw settings, loads and power cuts at random, and keep what breaks a promise: SEED=1 MINUTES=10
crash-replay: ## repeat one crash trial and open a shell on the recovered board: RUN=… TRIAL=…, or CASE=… [CMD=…]
demo: ## unpack, analyse and open a recorded run; needs no board
analyse: ## redo tables, figures and report of a run: make analyse RUN=results/latest
audit: ## check the correlation of a run: waits, journal, pages, order of calls: make audit RUN=results/latest
inspect: ## make a page of a run with the cause of every byte: make inspect RUN=results/latest
tree: ## show what a transaction made the device do: RUN=… TRANSACTION=<number>|slowest
diff: ## what changed between two runs: make diff RUN_A=… RUN_B=… [FORCE=1]
trace-export: ## convert a run for other tools: RUN=… FORMAT=perfetto|parquet|csv|blktrace|iolog|all
ledger: ## bytes and flushes per transaction over MODE x FS: make ledger FIGURE=ledger.svg [RUNS="results/..."]
board: ## start the virtual board and open a shell on it
board-check: ## report a lab board's features and noise in a minute: make board-check BOARD=pi
calibrate: ## run fio on a device profile and compare with its sources: make calibrate DEVICE=emmc-5.0 [CURVES=yes]
profile: ## measure a device and fit a profile to it: BOARD=pi NAME=my-card; destroys what its partition holds
emulator: ## build a faster QEMU that gives the same numbers (up to 10 minutes); used once built
snapshots: ## list prepared boards; REMOVE=<name>|all deletes
test: ## linters, unit tests, the driver under sanitizers, and runs on the board [ALL=1: unchanged groups, too]
test-long: ## rare and long tests: broken device models, another kernel, a sweep killed 20 times, a real Slurm
container: ## make the image of bin/commitpath --container TARGET, for hosts that are not Debian
host: ## install the Debian packages that the tests need, or those of one command before it runs
lint: ## linters only
bench: ## measure the time and memory of a run, by part
bench-waiting: ## measure how long a user waits, next to the targets
bench-repeat: ## measure how well numbers repeat, and compare with the limits
bench-analysis: ## compare the analysis with blkparse and btt at 1 and 10 million events
bench-emulator: ## compare Debian's QEMU with ours (`make emulator`): late clocks and speed
bench-programs: ## compare counts of watched programs with those of strace and the kernel
bench-cuts: ## measure power cuts per hour and compare with dm-log-writes [FS=… CUTS=…]
bench-profile: ## fit 20 devices with hidden parameters and predict what no fit saw [SEED=… N=…]
bench-sensitivity: ## halve and double each parameter of a device: TPS of six recorded cells [DEVICE=…], verdicts [PAPER=…]
mutations: ## imitate instrument faults in recorded runs and count those noticed [KIND=… SAMPLE=… SEED=… N=…]
new: ## write the files of a new part, a commented example that runs: KIND=engine NAME=mydb
docs: ## write docs/reference/axes.md from the schema
destroy: ## stop every board and delete everything built in .cache; .venv and results stay
requirements: ## pin the Python packages of requirements*.in again, with hashes

.PHONY: $(sort $(TARGETS) $(TOPIC))
$(sort $(TARGETS) $(TOPIC)):
	@$(if $(TOPIC),$(if $(filter help,$@),exec bin/commitpath help '$(subst ','\'',$(TOPIC))',:),exec bin/commitpath --of-make '$(subst ','\'',$(GIVEN))' $@)
