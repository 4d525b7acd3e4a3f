# Make variables of the engine lmdb: Debian's packages of LMDB, the C files that it shares, and linker flags.
PACKAGES := liblmdb-dev
HEADER := lmdb.h
include $(WORKLOADS)packages.mk
LIBRARY :=

ENGINE_SHARED := key_values/key_values.c key_values/files.c

ENGINE_LDLIBS := $(FILE_CALLS) $(LIBRARIES)/liblmdb.a -lpthread
