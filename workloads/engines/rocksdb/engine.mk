# Make variables of the engine rocksdb: Debian's packages of RocksDB, the C files that it shares, and linker
# flags; and a rule that writes RocksDB's release to a C header.
PACKAGES := librocksdb-dev libbz2-dev liblz4-dev libsnappy-dev libzstd-dev zlib1g-dev
HEADER := rocksdb/c.h
include $(WORKLOADS)packages.mk
LIBRARY :=

ENGINE_SHARED := key_values/files.c key_values/key_values.c leveldb/calls.c leveldb/data.c leveldb/rows.c
ENGINE_CPPFLAGS += -I$(WORKLOADS)engines/rocksdb
# background.c replaces these functions
waits := pthread_cond_wait _ZN7rocksdb14ThreadPoolImpl8ScheduleEPFvPvES1_S1_S3_
ENGINE_LDLIBS := $(FILE_CALLS) $(waits:%=-Wl,--wrap=%) $(addprefix $(LIBRARIES)/,librocksdb.a libbz2.a liblz4.a libsnappy.a libzstd.a libz.a) \
  $(LIBSTDCXX) -lpthread -ldl -lm

# Its release, which only a C++ header has.
release := $(OBJECTS)/rocksdb_release.h
$(release): $(ENGINE_HEADERS)
	mkdir -p $(@D)
	sed -n '/^#define ROCKSDB_[MP]/p' $(ENGINE_ROOT)/usr/include/rocksdb/version.h >$@
ENGINE_HEADERS += $(release)
