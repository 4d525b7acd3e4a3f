# LevelDB as Debian has it.
PACKAGES := libleveldb-dev libsnappy-dev
HEADER := leveldb/c.h
include $(dir $(lastword $(MAKEFILE_LIST)))packages.mk

ENGINE_LDLIBS := $(addprefix $(LIBRARIES)/,libleveldb.a libsnappy.a) $(LIBSTDCXX) -lpthread -lm
