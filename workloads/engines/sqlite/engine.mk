# Make variables and rules of the engine sqlite: fetch one SQLite release, and compile its sqlite3.c and the
# extensions of SQLite's shell to one object.
#   SQLITE=3.8.11.1   a release of releases.yml, fetched by name
#   RELEASE_DIR=DIR   the sqlite3.c and sqlite3.h in DIR
#   LIBRARY=FILE      a sqlite3.o made by this file
SQLITE ?= 3.46.1
RELEASE_DIR ?= build/sqlite/$(SQLITE)
LIBRARY ?= $(OBJECTS)/sqlite3.o

sqlite_folder := $(dir $(lastword $(MAKEFILE_LIST)))
include $(sqlite_folder)options.mk

ENGINE_CPPFLAGS := -isystem $(RELEASE_DIR)
ENGINE_HEADERS := $(RELEASE_DIR)/sqlite3.c
ENGINE_LDLIBS := -lpthread -lm

# No warnings or sanitizers for SQLite's own code.
theirs = $(CC) $(CFLAGS) -fno-sanitize=undefined -w

# One object: SQLite and its shell's extensions, for every connection.
$(OBJECTS)/sqlite3.o: $(OBJECTS)/sqlite/sqlite3.o $(OBJECTS)/sqlite/extensions.o
	$(CC) -nostdlib -r -o $@ $^
$(OBJECTS)/sqlite/sqlite3.o: $(RELEASE_DIR)/sqlite3.c $(sqlite_folder)options.mk $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(theirs) $(SQLITE_OPTIONS) -DSQLITE_EXTRA_INIT=commitpath_extensions -c -o $@ $<
$(OBJECTS)/sqlite/extensions.o: $(sqlite_folder)extensions/extensions.c $(RELEASE_DIR)/ext/series.c $(OBJECTS)/flags
	@mkdir -p $(@D)
	$(theirs) -I$(sqlite_folder)extensions -I$(RELEASE_DIR)/ext -isystem $(RELEASE_DIR) -c -o $@ $<

build/sqlite/%/sqlite3.c build/sqlite/%/ext/series.c: | engines/sqlite/releases.yml
	$(PYTHON) engines/sqlite/fetch.py $* build/sqlite/$*
.SECONDARY:
