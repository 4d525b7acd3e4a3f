"""Words of failures and of what a cache keeps then, which failures rerun, and the folder of trials."""

EVERYTHING, NOTHING, PREFIX = "everything", "nothing", "prefix"
TORN, SUBSET, SUFFIX = "torn", "subset", "suffix"
# A cache that writes in order loses the newest changes, and may tear the last that it keeps. One that
# reorders may lose any.
IN_ORDER = (NOTHING, EVERYTHING, PREFIX, TORN)
REORDERED = (*IN_ORDER, SUBSET, SUFFIX)
POWER, SYSTEM, PROCESS, FAULT = "power", "os", "process", "fault"
# Failures whose trials do the run again themselves, each until it fails.
RERUN = (PROCESS, FAULT)
# Folder of a run that has the files of each board of trials.
FOLDER = "crash"
