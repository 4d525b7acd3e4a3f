/* Roles of LevelDB's files (log, table, manifest, …) by their names, and the sizes of a database's
 * files by role; callable from C++, which engine.h is not. */
#pragma once

#include <stddef.h>

enum leveldb_role { LOG, TABLE, MANIFEST, CURRENT, INFO, OTHER, ROLES };

/* Returns the role of a file by its path. */
enum leveldb_role role_of(const char *path);

/* Ended by NULL; in vfs.csv and model/engines/leveldb.py. */
extern const char *const leveldb_roles[];

struct file_size;
size_t leveldb_file_sizes(const char *path, struct file_size *sizes);
