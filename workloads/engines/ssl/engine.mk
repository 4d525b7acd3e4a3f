# SQLite/SSL: SQLite, compiled as the engine sqlite is, and what logs its statements.
#   SQLITE, RELEASE_DIR, LIBRARY as engines/sqlite/engine.mk has them
include engines/sqlite/engine.mk

ENGINE_SHARED := $(addprefix engines/sqlite/,creation.c properties.c render.c rows.c sql.c version.c)
ENGINE_CPPFLAGS += -Iengines/sqlite
