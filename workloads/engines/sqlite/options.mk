# SQLite's compile options: what Debian's package has (debian/rules of 3.46.1-7 and its configure's
# defaults), as SQL that an app or a dump has is to run here, but for what changes what a transaction
# writes or costs. A release ignores what it does not know. Every run records the options.
sqlite_option := -DSQLITE_

# SQLite calls fsync where nobody says that fdatasync is there; its configure script says it.
SQLITE_OPTIONS := -DHAVE_FDATASYNC=1
# the default; it is named because it costs locking
SQLITE_OPTIONS += $(sqlite_option)THREADSAFE=1

# Modules and functions, which cost what does not use them nothing.
SQLITE_OPTIONS += $(addprefix $(sqlite_option)ENABLE_,FTS3 FTS3_PARENTHESIS FTS4 FTS5 RTREE JSON1 MATH_FUNCTIONS)
SQLITE_OPTIONS += $(addprefix $(sqlite_option)ENABLE_,DBSTAT_VTAB DBPAGE_VTAB STMTVTAB COLUMN_METADATA)
SQLITE_OPTIONS += $(sqlite_option)SOUNDEX=1
# not Debian's: SQLite's own shell and other distributions have it
SQLITE_OPTIONS += $(sqlite_option)ENABLE_GEOPOLY
# What a statement may be, and what it gives. Only a release that is generated here has a parser for
# the first (fetch.py).
SQLITE_OPTIONS += $(sqlite_option)ENABLE_UPDATE_DELETE_LIMIT
SQLITE_OPTIONS += $(sqlite_option)LIKE_DOESNT_MATCH_BLOBS $(sqlite_option)ALLOW_ROWID_IN_VIEW $(sqlite_option)STRICT_SUBTYPE=1
SQLITE_OPTIONS += $(sqlite_option)MAX_VARIABLE_NUMBER=250000

# Debian's, and not here:
#   SECURE_DELETE           it writes zeros over what is deleted, which other builds leave as it is
#   ENABLE_PREUPDATE_HOOK   asked for each row that changes; only a program's C can use it
#   ENABLE_SESSION          needs that
#   ENABLE_UNLOCK_NOTIFY    asked in each step; for connections that share a cache
#   ENABLE_FTS3_TOKENIZER   lets SQL give SQLite an address to call
#   ENABLE_LOAD_EXTENSION   lets SQL load a library
#   USE_URI                 of names of files, which no SQL of a workload gives
#   MAX_SCHEMA_RETRY        of other connections that change the schema
SQLITE_OPTIONS += $(sqlite_option)OMIT_LOAD_EXTENSION
# Nobody's, and never here: ENABLE_BATCH_ATOMIC_WRITE. On F2FS it skips the rollback journal, and the
# rollback modes would measure something else.
