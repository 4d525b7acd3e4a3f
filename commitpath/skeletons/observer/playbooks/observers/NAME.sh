# {{NAME}}: an example that copies /proc/diskstats around a run; check, start, ready, stop, said are required.
# Environment: RAW, the run's folder of raw files; BIN, programs built from probes/; DEVICE_NAME.
# playbooks/board/observer.sh calls them. Files of its own are playbooks/observers/{{NAME}}.*
# shellcheck shell=sh

# check: its requirements (needs_program, needs_module, lack)
check() { [ -r /proc/diskstats ] || lack "there is no /proc/diskstats"; }

# start: a program that runs during the run is started by `observe PROGRAM...`
start() { mkdir "$RAW/{{NAME}}" && cp /proc/diskstats "$RAW/{{NAME}}/begin"; }

# ready: whether it is watching; called ten times a second
ready() { [ -s "$RAW/{{NAME}}/begin" ]; }

# stop: fails if it ended badly; `ended` ends the program of `observe`
stop() { cp /proc/diskstats "$RAW/{{NAME}}/end"; }

# said: prints its messages after a failure
said() { ls "$RAW/{{NAME}}"; }
