/* The log of an engine's files, for an engine that is given a layer of ours below it, such as
 * LevelDB's Env: each function is called after the call that it records. Calls and writes go to
 * file_calls.h and written.h. One thread calls it. */
#ifndef COMMITPATH_ENGINE_FILES_H
#define COMMITPATH_ENGINE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct engine_file;

/* Makes room for so many calls (engine.log_prepare). Until then the functions below do nothing. */
bool engine_files_prepare(size_t calls, struct error *error);

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

/* Of an open file, or NULL. Returns the call's number in vfs.csv, or -1. A sync of `folders` more
 * also syncs its folder. `result`: 0, or the engine's error. */
int64_t engine_files_write(struct engine_file *file, const void *bytes, int64_t size,
			   int64_t offset, uint64_t begin, int result);
void engine_files_sync(struct engine_file *file, int64_t folders, uint64_t begin, int result);

/* Frees it. */
void engine_files_close(struct engine_file *file, uint64_t begin, int result);

/* Of a file by its name. */
void engine_files_delete(const char *path, unsigned role, uint64_t begin, int result);

#endif
