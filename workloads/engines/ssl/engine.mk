# SQLite/SSL: SQLite, compiled as the engine sqlite is, and what logs its statements.
#   SQLITE, RELEASE_DIR, LIBRARY as engines/sqlite/engine.mk has them
sqlite := $(dir $(lastword $(MAKEFILE_LIST)))../sqlite
include $(sqlite)/engine.mk

ENGINE_SHARED := $(addprefix engines/sqlite/,creation.c log.c properties.c render.c row.c rows.c sql.c version.c)
ENGINE_SHARED_TRIALS := engines/sqlite/trials/recovered.c
ENGINE_CPPFLAGS += -I$(sqlite)
