/* Hooks of engine.h for LevelDB's files, which are in a folder: the words of their roles, and
 * their sizes by role. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"

/* Ended by NULL; in vfs.csv and model/engines/leveldb.py. */
extern const char *const leveldb_roles[];

size_t leveldb_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES]);
