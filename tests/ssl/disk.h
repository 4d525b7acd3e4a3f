/* A disk in memory, as SQLite's default VFS: a power cut loses what was not synced or tears it, at
 * 512 bytes, at 8 in a log; calls and allocations fail, and files are edited. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fault { FAULT_NONE, FAULT_EIO, FAULT_FULL, FAULT_SHORT, FAULT_NOMEM };

/* How much of what was not synced a cut leaves. */
enum kept { KEPT_SOME, KEPT_NONE, KEPT_ALL, KEPT_BEGIN, KEPTS };

void disk_register(void);
void disk_empty(void);

/* Cuts the power at that call from now on; 0: never. */
void disk_cut_after(int64_t calls);
bool disk_is_cut(void);
void disk_cut_now(void);

/* Calls that are the test's own: none of them counts. */
void disk_pause(bool paused);

/* The power is back: what is there is decided. */
void disk_power(uint64_t seed, enum kept kept);

/* The process ended and the power did not: all that was written is there, until that is cut. */
void disk_killed(void);

/* One call fails, the one of that number from now on; of memory, the allocation; 0: none. */
void disk_fail(enum fault fault, int64_t call);
bool disk_failed(void);
void disk_memory(bool armed);
/* All that come after it, too. */
void disk_lasts(bool on);

/* How many there were since the disk was empty; of memory, while it was armed. */
int64_t disk_calls(void);
int64_t disk_allocations(void);

/* For the VFS: counts a call and says whether it works (0) or how it fails, `code` or another;
 * whether an allocation fails; and which fault is set. */
int disk_call(int code);
bool disk_no_memory(void);
enum fault disk_fault(void);

/* Of the disk's clock: the same in each run. */
extern int64_t disk_time;

/* Files, as `cp`, `rm` and an editor do. */
bool disk_copy(const char *from, const char *to);
void disk_remove(const char *name);
bool disk_edit(const char *name, int64_t offset, uint8_t byte);
bool disk_cut_file(const char *name, int64_t size);
bool disk_there(const char *name);
