/* Functions that a wrapper of an engine's files calls after each open, write, sync, truncate,
 * close and delete: they log the call to vfs.csv (file_calls.h), and what was written (written.h).
 * Wrappers are LevelDB's Env (leveldb/environment.cc), and calls that the linker replaces
 * (key_values/files.h). One thread calls it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/uio.h>

#include "error.h"

struct engine_file;

/* engine.log_prepare. Until then the functions below do nothing. */
bool engine_files_prepare(size_t transactions, struct error *error);

/* engine.log_begin and engine.log_end. */
void engine_files_begin(void);
void engine_files_end(void);

/* Of several databases that are folders, registers the one at `path`, which must stay valid:
 * calls of the files in it have its number in vfs.csv. */
void engine_files_folder(const char *path, size_t number);

/* Returns whether files are recorded. */
bool engine_files_recorded(void);

/* The time in ticks (ticks.h, which C++ does not take). */
uint64_t engine_files_now(void);

/* A file of this role (engine.file_roles) was opened at `begin`, in ticks. With `compared`, its
 * content is checked after a power cut (written.h). Returns NULL if files are not recorded. */
struct engine_file *engine_files_open(const char *path, unsigned role, bool compared,
				      uint64_t begin);

/* Returns a file's database as in a struct file_call. */
unsigned engine_files_database(const struct engine_file *file);

/* A call of an open file; nothing of NULL. Returns its number in vfs.csv, or -1. `result`: 0, or
 * the engine's error. A write that succeeded wrote `size` bytes. A sync of `folders` more also
 * syncs its folder. */
int64_t engine_files_write(struct engine_file *file, const void *bytes, int64_t size,
			   int64_t offset, uint64_t begin, int result);
int64_t engine_files_write_parts(struct engine_file *file, const struct iovec *parts, int count,
				 int64_t offset, uint64_t begin, int result);
void engine_files_sync(struct engine_file *file, int64_t folders, uint64_t begin, int result);
/* A write of a transaction is in memory alone. Returns as engine_files_write does. */
int64_t engine_files_keep(unsigned role, int64_t size, uint64_t begin);
void engine_files_msync(struct engine_file *file, uint64_t begin, int result);
void engine_files_truncate(struct engine_file *file, int64_t size, uint64_t begin, int result);

/* A folder was synced by itself. */
void engine_files_sync_folder(uint64_t inode, unsigned role, uint64_t begin, int result);

/* How many of `size` bytes the write that begins now is to write: all, unless the process is killed
 * within it (trials/kill.c). */
size_t engine_files_room(size_t size);

/* The file was closed. Frees it. */
void engine_files_close(struct engine_file *file, uint64_t begin, int result);

/* The file of that name was deleted. */
void engine_files_delete(const char *path, unsigned role, uint64_t begin, int result);
