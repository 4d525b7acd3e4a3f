"""Names of crash failures (power, os, process, fault), and policies: which cached writes survive."""

EVERYTHING, NOTHING, PREFIX = "everything", "nothing", "prefix"
TORN, SUBSET, SUFFIX = "torn", "subset", "suffix"
# A cache that writes in order loses the newest changes, and may tear the last that it keeps. One that
# reorders may lose any.
IN_ORDER = (NOTHING, EVERYTHING, PREFIX, TORN)
REORDERED = (*IN_ORDER, SUBSET, SUFFIX)
POWER, SYSTEM, PROCESS, FAULT = "power", "os", "process", "fault"
# Failures simulated by repeating the run up to the failure, in each trial.
RERUN = (PROCESS, FAULT)
# Folder of a run that has the files of each board of trials.
FOLDER = "crash"
