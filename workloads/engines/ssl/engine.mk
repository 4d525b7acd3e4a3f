# Make variables of the engine ssl (SQLite/SSL): SQLite, compiled as for the engine sqlite, and the log of its
# statements.
#   SQLITE, RELEASE_DIR, LIBRARY as in engines/sqlite/engine.mk
sqlite := $(dir $(lastword $(MAKEFILE_LIST)))../sqlite
include $(sqlite)/engine.mk

ENGINE_SHARED := $(addprefix engines/sqlite/,creation.c log.c properties.c render.c rows.c sql.c)
ENGINE_SHARED_TRIALS := engines/sqlite/trials/recovered.c
ENGINE_CPPFLAGS += -I$(sqlite)
