# LMDB as Debian has it.
PACKAGES := liblmdb-dev
HEADER := lmdb.h
include $(dir $(lastword $(MAKEFILE_LIST)))../../packages.mk

ENGINE_SHARED := key_values/key_values.c

ENGINE_LDLIBS := $(LIBRARIES)/liblmdb.a -lpthread
