# LMDB as Debian has it.
PACKAGES := liblmdb-dev
HEADER := lmdb.h
include $(WORKLOADS)packages.mk
LIBRARY :=

ENGINE_SHARED := key_values/key_values.c key_values/files.c

ENGINE_LDLIBS := $(FILE_CALLS) $(LIBRARIES)/liblmdb.a -lpthread
