# Make variables of the engines leveldb and sqlitekv: LevelDB's Debian packages, the C and C++ files that both
# share, and the flags that link LevelDB and replace its calls.
#   WORKLOADS=DIR/   from where make runs to workloads/
PACKAGES := libleveldb-dev libsnappy-dev
HEADER := leveldb/c.h
fetched := $(WORKLOADS)build/leveldb
include $(dir $(lastword $(MAKEFILE_LIST)))../packages.mk

LEVELDB_SHARED := $(addprefix leveldb/,calls.c compaction.c data.c environment.cc files.c index_blocks.c)
LEVELDB_LDLIBS := $(addprefix $(LIBRARIES)/,libleveldb.a libsnappy.a) $(LIBSTDCXX) -lpthread -lm
# environment.cc replaces them
LEVELDB_CALLS := -Wl,--wrap=write -Wl,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
