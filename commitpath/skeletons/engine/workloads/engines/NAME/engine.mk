# How {{NAME}} is compiled; ../../Makefile compiles each .c file of this folder.
# Required: its third-party code as one object or archive; empty: it has none.
LIBRARY :=
# Optional: options for the compiler, and what the driver is linked with. ENGINE_ROOT is the build root with the
# packages of experiments/engine/{{NAME}}.yml (engines/leveldb/engine.mk).
ENGINE_CPPFLAGS :=
ENGINE_LDLIBS :=
