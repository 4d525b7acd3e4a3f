/* Adds up the sizes of a database's files by role, such as log and table, for engines whose
 * database is a folder of files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"

/* Returns whether a name ends with `end`. */
bool ends_with(const char *name, const char *end);

/* For the hook file_sizes: the sizes of the files in a folder, by role; `role_of` returns the role
 * of a name as its index in `roles`; `count`: of no role. */
size_t folder_sizes(const char *path, const char *const *roles, size_t count,
		    size_t (*role_of)(const char *name), struct file_size *sizes);
