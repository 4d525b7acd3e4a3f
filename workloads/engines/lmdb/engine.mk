# LMDB as Debian has it, and what it shares with LevelDB's engine.
leveldb := $(dir $(lastword $(MAKEFILE_LIST)))../leveldb
PACKAGES := liblmdb-dev
HEADER := lmdb.h
include $(leveldb)/packages.mk

ENGINE_SHARED := engines/leveldb/key_values.c
ENGINE_CPPFLAGS += -I$(leveldb)
ENGINE_LDLIBS := $(LIBRARIES)/liblmdb.a -lpthread
