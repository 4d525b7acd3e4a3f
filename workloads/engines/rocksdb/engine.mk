# RocksDB as Debian has it, and what it shares with LMDB's engine.
lmdb := $(dir $(lastword $(MAKEFILE_LIST)))../lmdb
PACKAGES := librocksdb-dev libbz2-dev liblz4-dev libsnappy-dev libzstd-dev zlib1g-dev
HEADER := rocksdb/c.h
include $(lmdb)/packages.mk

ENGINE_SHARED := engines/lmdb/key_values.c
ENGINE_CPPFLAGS += -I$(lmdb)
ENGINE_LDLIBS := $(addprefix $(LIBRARIES)/,librocksdb.a libbz2.a liblz4.a libsnappy.a libzstd.a libz.a) \
  $(LIBSTDCXX) -lpthread -ldl -lm

# Its release, which only a C++ header has.
release := $(OBJECTS)/rocksdb_release.h
$(release): $(ENGINE_HEADERS)
	mkdir -p $(@D)
	sed -n '/^#define ROCKSDB_[MP]/p' $(ENGINE_ROOT)/usr/include/rocksdb/version.h >$@
ENGINE_HEADERS += $(release)
