# LMDB as Debian has it.
PACKAGES := liblmdb-dev
HEADER := lmdb.h
include $(WORKLOADS)packages.mk
LIBRARY :=

ENGINE_SHARED := key_values/key_values.c

ENGINE_LDLIBS := $(LIBRARIES)/liblmdb.a -lpthread
