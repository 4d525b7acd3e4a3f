# SQLite, compiled from one release's sqlite3.c.
#   SQLITE=3.8.11.1   a release of releases.yml, fetched by name
#   RELEASE_DIR=DIR   the sqlite3.c and sqlite3.h in DIR
#   LIBRARY=FILE      a sqlite3.o that this file made
SQLITE ?= 3.46.1
RELEASE_DIR ?= build/sqlite/$(SQLITE)
LIBRARY ?= $(OBJECTS)/sqlite3.o

# SQLite's own defaults, as an app that brings its SQLite gets them, but for
# what is named here. Every run records the compile options.
# - HAVE_FDATASYNC: SQLite calls fsync where nobody says that fdatasync is
#   there; its configure script, and so Debian, says it.
# - THREADSAFE=1 is the default; it is named because it costs locking.
# - No extension loading: it would only need libdl.
# Never SQLITE_ENABLE_BATCH_ATOMIC_WRITE: on F2FS it skips the rollback
# journal, and the rollback modes would measure something else.
SQLITE_OPTIONS := -DSQLITE_THREADSAFE=1 -DHAVE_FDATASYNC=1 -DSQLITE_OMIT_LOAD_EXTENSION

ENGINE_CPPFLAGS := -isystem $(RELEASE_DIR)
ENGINE_HEADERS := $(RELEASE_DIR)/sqlite3.c
ENGINE_LDLIBS := -lpthread -lm

# SQLite's warnings are its own, and so is its undefined behaviour.
$(OBJECTS)/sqlite3.o: $(RELEASE_DIR)/sqlite3.c $(OBJECTS)/flags
	$(CC) $(CFLAGS) -fno-sanitize=undefined -w $(SQLITE_OPTIONS) -c -o $@ $<

build/sqlite/%/sqlite3.c: | engines/sqlite/releases.yml
	$(PYTHON) engines/sqlite/fetch.py $* $(@D)
.SECONDARY:
