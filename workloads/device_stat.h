/* Takes the block device's counters at the begin, the end and after each phase of a run, for
 * device_stat.csv; and settles the device: syncs the filesystem and waits until no request is in
 * flight. */
#pragma once

/* At most: one after each phase of a run (MAX_PHASES), and two at its edges. */
enum { STAT_SNAPSHOTS = 21 };

/* Opens the device's files stat and inflight. NULL: no device, and snapshots have only the time.
 * Ends the run on an error. */
void stat_open(const char *path);

/* Takes the counters now, under a label; "end-" and `phase` when `phase` is
 * not NULL. Both must live until stat_write. Writes nothing yet. */
void stat_snapshot(const char *label, const char *phase);

/* Writes back all that is dirty in the filesystem of `folder` (NULL: in none), then waits
 * until the device has no request in flight. Ends the run when that takes
 * longer than 60 s. Not for the database itself: closing any descriptor of
 * a file drops the process's locks on it. */
void stat_settle(const char *folder);

/* Writes device_stat.csv. A counter that the kernel does not have is empty. */
void stat_write(const char *directory);
