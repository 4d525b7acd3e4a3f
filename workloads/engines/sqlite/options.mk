# SQLite's compile options: those of Debian's package (debian/rules of 3.46.1-7 and configure's defaults), so
# that SQL from apps and dumps runs here, except those that change what a transaction writes or costs. A
# release ignores options that it does not know. Every run records the options.
sqlite_option := -DSQLITE_

# without this SQLite uses fsync; its configure script detects fdatasync
SQLITE_OPTIONS := -DHAVE_FDATASYNC=1
# the default, listed because it costs locking
SQLITE_OPTIONS += $(sqlite_option)THREADSAFE=1

# Modules and functions, without cost unless used.
SQLITE_OPTIONS += $(addprefix $(sqlite_option)ENABLE_,FTS3 FTS3_PARENTHESIS FTS4 FTS5 RTREE JSON1 MATH_FUNCTIONS)
SQLITE_OPTIONS += $(addprefix $(sqlite_option)ENABLE_,DBSTAT_VTAB DBPAGE_VTAB STMTVTAB COLUMN_METADATA)
SQLITE_OPTIONS += $(sqlite_option)SOUNDEX=1
# not in Debian: SQLite's shell and other distributions have it
SQLITE_OPTIONS += $(sqlite_option)ENABLE_GEOPOLY
# Statement syntax and result columns. Only a release generated here has a parser for the first (fetch.py).
SQLITE_OPTIONS += $(sqlite_option)ENABLE_UPDATE_DELETE_LIMIT
SQLITE_OPTIONS += $(sqlite_option)LIKE_DOESNT_MATCH_BLOBS $(sqlite_option)ALLOW_ROWID_IN_VIEW $(sqlite_option)STRICT_SUBTYPE=1
SQLITE_OPTIONS += $(sqlite_option)MAX_VARIABLE_NUMBER=250000

# In Debian, omitted here:
#   SECURE_DELETE           overwrites deleted content with zeros, which other builds do not
#   ENABLE_PREUPDATE_HOOK   is checked for each changed row; usable only from C
#   ENABLE_SESSION          needs that
#   ENABLE_UNLOCK_NOTIFY    is checked in each step; for connections that share a cache
#   ENABLE_FTS3_TOKENIZER   lets SQL give SQLite an address to call
#   ENABLE_LOAD_EXTENSION   lets SQL load a library
#   USE_URI                 for file names, which a workload's SQL does not have
#   MAX_SCHEMA_RETRY        for schema changes by other connections
SQLITE_OPTIONS += $(sqlite_option)OMIT_LOAD_EXTENSION
# Never: ENABLE_BATCH_ATOMIC_WRITE, which on F2FS skips the rollback journal, so the rollback modes would
# measure something else.
