/* Roles of RocksDB's files by their names, hooks that log their calls, and the functions of
 * tables.c, which attribute each row of a table to the write that made it. */
#pragma once

#include <stddef.h>

#include "engine.h"
#include "key_values/files.h"

/* ROLES: how many; also the folder's, and that of a mapped file, as none is mapped. */
enum role { LOG, TABLE, MANIFEST, CURRENT, INFO, OTHER, ROLES, FOLDER = ROLES };

/* The number of the database that moved.h's calls take: a run has one, 0. */
enum { ONE_DATABASE };

/* Ended by NULL; in vfs.csv and model/engines/rocksdb.py. */
extern const char *const roles[];
extern const struct file_hooks file_hooks;

/* The end of the log of calls. */
void files_end(void);

/* For --disable-wal: `count` writes, the last one of this number, are in memory alone. */
void files_kept(uint64_t last, size_t count, size_t bytes, uint64_t begin);

size_t files_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES]);

/* tables.c: of a table's file that is written by logged calls. */
struct table_file;
struct table_file *table_open(const char *name);
void table_write(struct table_file *table, const void *bytes, size_t size, int64_t call);
void table_close(struct table_file *table);
void table_delete(const char *name);

/* Reports the rows that no further deletion is needed for. */
void tables_settle(void);
