/* Roles of LevelDB's files, by the names that its filename.cc gives. */
#pragma once

enum role { LOG, TABLE, MANIFEST, CURRENT, INFO, OTHER, ROLES };

/* Returns the role of a file by its path. */
enum role role_of(const char *path);
