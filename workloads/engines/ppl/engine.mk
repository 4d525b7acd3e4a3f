# Make variables of the engine ppl (SQLite/PPL): SQLite, compiled as for the engine sqlite, the log of page
# changes, and the C files of the engine ssl that do not concern statements.
#   SQLITE, RELEASE_DIR, LIBRARY as in engines/sqlite/engine.mk
engines := $(dir $(lastword $(MAKEFILE_LIST)))..
include $(engines)/sqlite/engine.mk
include $(engines)/ssl/shared.mk

ENGINE_SHARED := $(addprefix engines/sqlite/,creation.c log.c properties.c render.c rows.c sql.c) \
  $(addprefix engines/ssl/,driver.c driver_stats.c $(LOG_SHARED))
ENGINE_SHARED_TRIALS := engines/sqlite/trials/recovered.c engines/ssl/trials/recovery.c
ENGINE_CPPFLAGS += -I$(engines)/ppl -I$(engines)/sqlite -I$(engines)/ssl
