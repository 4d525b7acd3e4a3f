# LevelDB as Debian has it.
include $(WORKLOADS)leveldb/leveldb.mk
LIBRARY :=
ENGINE_SHARED := key_values/key_values.c $(LEVELDB_SHARED)
ENGINE_LDLIBS := $(LEVELDB_CALLS) $(LEVELDB_LDLIBS)
