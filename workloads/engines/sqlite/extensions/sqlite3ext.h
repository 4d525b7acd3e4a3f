/* Header for statically linked extensions: sqlite3.h, and definitions that older releases lack. */
#ifndef SQLITE3EXT_H
#define SQLITE3EXT_H

#include "sqlite3.h"

#define SQLITE_EXTENSION_INIT1
#define SQLITE_EXTENSION_INIT2(api) ((void)(api))
#define SQLITE_EXTENSION_INIT3

/* older releases reject unknown flags */
#ifndef SQLITE_INNOCUOUS
#define SQLITE_INNOCUOUS 0
#define SQLITE_VTAB_INNOCUOUS 2
#endif
#ifndef SQLITE_DIRECTONLY
#define SQLITE_DIRECTONLY 0
#endif
/* older releases never request it */
#ifndef SQLITE_INDEX_CONSTRAINT_LIMIT
#define SQLITE_INDEX_CONSTRAINT_LIMIT 73
#define SQLITE_INDEX_CONSTRAINT_OFFSET 74
#endif

#endif
