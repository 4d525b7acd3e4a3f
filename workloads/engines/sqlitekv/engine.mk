# Make variables of the engine sqlitekv (SQLiteKV): SQLite, compiled as for the engine sqlite, with virtual
# tables over LevelDB, as Debian has it.
#   SQLITE, RELEASE_DIR, LIBRARY as in engines/sqlite/engine.mk
#   ENGINE_ROOT as in packages.mk
engines := $(dir $(lastword $(MAKEFILE_LIST)))..
include $(engines)/sqlite/engine.mk
include $(WORKLOADS)leveldb/leveldb.mk

ENGINE_SHARED := $(addprefix engines/sqlite/,creation.c log.c properties.c render.c rows.c sql.c) $(LEVELDB_SHARED)
ENGINE_SHARED_TRIALS := $(addprefix engines/sqlite/trials/,recovered.c recovery.c)
ENGINE_CPPFLAGS += -I$(engines)/sqlitekv -I$(engines)/sqlite
ENGINE_LDLIBS := $(LEVELDB_CALLS) $(LEVELDB_LDLIBS)
