/* Keeps the engine's file calls (open, write, sync, …) in memory during the measurement, and writes
 * them to vfs.csv afterwards. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum file_op {
	FILE_OPEN,
	FILE_CLOSE,
	FILE_WRITE,
	FILE_SYNC,
	FILE_TRUNCATE,
	FILE_DELETE,
	FILE_SHM_MAP, /* SQLite maps a part of its shared memory */
	FILE_KEEP,    /* a write is kept in memory instead of the file */
	FILE_COPY,    /* a copy to a file that is mapped */
	FILE_MSYNC,   /* of such a file */
	FILE_CLEAN,   /* the cache lines of a copy are cleaned */
};

/* In `offset`, `bytes` and `page`: not used by this call. */
#define FILE_NOTHING INT64_C(-1)

struct file_call {
	uint64_t begin, end;   /* ticks.h */
	uint64_t inode;	       /* 0: unknown */
	int64_t offset, bytes; /* docs/reference/formats.md has their meaning for each op */
	int64_t page;	       /* of the database, that is logged with this write */
	enum file_op op;
	unsigned role;	   /* in engine.file_roles */
	unsigned database; /* that the file is of, from 1; 0: of none */
	int result;	   /* the engine's result code; 0: it succeeded */
};

/* Makes room for `capacity` calls and faults it in; each time it is full, as
 * much again is added. */
bool file_calls_open(size_t capacity, struct error *error);

/* Records a call. Without memory for it, file_calls_write ends the run. */
void file_calls_add(const struct file_call *call);

/* Writes vfs.csv; where there are several databases, with the number of each file's. */
void file_calls_write(const char *directory, bool several);
