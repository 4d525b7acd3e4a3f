# RocksDB as Debian has it, and what it shares with LevelDB's engine.
leveldb := $(dir $(lastword $(MAKEFILE_LIST)))../leveldb
PACKAGES := librocksdb-dev libbz2-dev liblz4-dev libsnappy-dev libzstd-dev zlib1g-dev
HEADER := rocksdb/c.h
include $(leveldb)/packages.mk

ENGINE_SHARED := engines/leveldb/key_values.c
ENGINE_CPPFLAGS += -I$(leveldb)
ENGINE_LDLIBS := $(addprefix $(LIBRARIES)/,librocksdb.a libbz2.a liblz4.a libsnappy.a libzstd.a libz.a) \
  $(LIBSTDCXX) -lpthread -ldl -lm

# Its release, which only a C++ header has.
release := $(OBJECTS)/rocksdb_release.h
$(release): $(ENGINE_HEADERS)
	mkdir -p $(@D)
	sed -n '/^#define ROCKSDB_[MP]/p' $(ENGINE_ROOT)/usr/include/rocksdb/version.h >$@
ENGINE_HEADERS += $(release)
