# LevelDB as Debian has it, and what it shares with LMDB's engine.
lmdb := $(dir $(lastword $(MAKEFILE_LIST)))../lmdb
PACKAGES := libleveldb-dev libsnappy-dev
HEADER := leveldb/c.h
include $(lmdb)/packages.mk

ENGINE_SHARED := engines/lmdb/key_values.c
ENGINE_CPPFLAGS += -I$(lmdb)
# environment.cc replaces it
waits := _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
ENGINE_LDLIBS := -Wl,--wrap=$(waits) $(addprefix $(LIBRARIES)/,libleveldb.a libsnappy.a) $(LIBSTDCXX) -lpthread -lm
