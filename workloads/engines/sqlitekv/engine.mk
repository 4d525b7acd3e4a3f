# SQLiteKV: SQLite, compiled as for the engine sqlite, with virtual tables over LevelDB, as Debian has it.
#   SQLITE, RELEASE_DIR, LIBRARY as in engines/sqlite/engine.mk
#   ENGINE_ROOT as in shared.mk
sqlitekv := $(dir $(lastword $(MAKEFILE_LIST)))
sqlite := $(sqlitekv)../sqlite
include $(sqlite)/engine.mk
include $(sqlitekv)shared.mk

ENGINE_SHARED := $(addprefix engines/sqlite/,creation.c log.c properties.c render.c rows.c sql.c) \
  engines/leveldb/index_blocks.c
ENGINE_CPPFLAGS += -I$(sqlitekv) -I$(sqlitekv)../leveldb -I$(sqlite) -isystem $(ENGINE_ROOT)/usr/include
ENGINE_HEADERS += $(LEVELDB_HEADER)
ENGINE_LDLIBS := $(LEVELDB_LIBRARY) $(leveldb_folder)/libsnappy.a $(LEVELDB_NEEDS)
