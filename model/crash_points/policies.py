"""The kinds of failure, what a device may do with what it may lose, and where trials are kept."""

EVERYTHING, NOTHING, PREFIX = "everything", "nothing", "prefix"
TORN, SUBSET, SUFFIX = "torn", "subset", "suffix"
# A cache that writes in the order in which it was given loses the newest, and may tear the last that it kept;
# one that reorders loses any.
IN_ORDER = (NOTHING, EVERYTHING, PREFIX, TORN)
REORDERED = (*IN_ORDER, SUBSET, SUFFIX)
POWER, SYSTEM, PROCESS = "power", "os", "process"
# fsck looks at the first of a board's trials, and at every so manieth behind it.
FSCK_EVERY = 10
# Of a run's folder: what of it each board of trials sent.
FOLDER = "crash"
