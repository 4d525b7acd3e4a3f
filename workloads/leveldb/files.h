/* LevelDB's files, which are in a folder: their roles by the names that its filename.cc gives, and
 * hooks of engine.h, which C++ does not take: the words of the roles, and the files' sizes by role.
 */
#pragma once

#include <stddef.h>

enum leveldb_role { LOG, TABLE, MANIFEST, CURRENT, INFO, OTHER, ROLES };

/* Returns the role of a file by its path. */
enum leveldb_role role_of(const char *path);

/* Ended by NULL; in vfs.csv and model/engines/leveldb.py. */
extern const char *const leveldb_roles[];

struct file_size;
size_t leveldb_file_sizes(const char *path, struct file_size *sizes);
