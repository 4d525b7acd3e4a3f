# LMDB as Debian has it.
PACKAGES := liblmdb-dev
HEADER := lmdb.h
include $(dir $(lastword $(MAKEFILE_LIST)))packages.mk

ENGINE_LDLIBS := $(LIBRARIES)/liblmdb.a -lpthread
