/* What SQLite's extensions include, for those that are linked with it: sqlite3.h, and what of it an
 * older release lacks. */
#ifndef SQLITE3EXT_H
#define SQLITE3EXT_H

#include "sqlite3.h"

#define SQLITE_EXTENSION_INIT1
#define SQLITE_EXTENSION_INIT2(api) ((void)(api))
#define SQLITE_EXTENSION_INIT3

/* a flag that a release does not know must not be given to it */
#ifndef SQLITE_INNOCUOUS
#define SQLITE_INNOCUOUS 0
#define SQLITE_VTAB_INNOCUOUS 2
#endif
#ifndef SQLITE_DIRECTONLY
#define SQLITE_DIRECTONLY 0
#endif
/* which it never asks for */
#ifndef SQLITE_INDEX_CONSTRAINT_LIMIT
#define SQLITE_INDEX_CONSTRAINT_LIMIT 73
#define SQLITE_INDEX_CONSTRAINT_OFFSET 74
#endif

#endif
