# LevelDB as Debian has it.
PACKAGES := libleveldb-dev libsnappy-dev
HEADER := leveldb/c.h
include $(dir $(lastword $(MAKEFILE_LIST)))../../packages.mk

ENGINE_SHARED := $(addprefix key_values/,data.c key_values.c)
# environment.cc replaces it
waits := _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
ENGINE_LDLIBS := -Wl,--wrap=$(waits) $(addprefix $(LIBRARIES)/,libleveldb.a libsnappy.a) \
  $(LIBSTDCXX) -lpthread -lm
