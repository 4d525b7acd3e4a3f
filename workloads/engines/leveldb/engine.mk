# Make variables of the engine leveldb: the C files that it shares, and flags for LevelDB as Debian has it.
include $(WORKLOADS)leveldb/leveldb.mk
LIBRARY :=
ENGINE_SHARED := key_values/key_values.c leveldb/rows.c $(LEVELDB_SHARED)
ENGINE_CPPFLAGS += -I$(WORKLOADS)engines/leveldb
ENGINE_LDLIBS := $(LEVELDB_CALLS) $(LEVELDB_LDLIBS)
