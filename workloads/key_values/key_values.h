/* Shared by engines that store keys and values: struct key_values of a database, its hooks of
 * engine.h (render, load, scan, count, …), and the functions of keys, settings and cursors that
 * such an engine defines for them. Keys are eight bytes, the largest first, so that their order is
 * that of the numbers. Such an engine lists key_values/key_values.c in ENGINE_SHARED and defines
 * the functions at the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "engine_files.h"

enum { KEY_SIZE = sizeof(uint64_t) };

/* How an operation is rendered; its value follows, or of a scan the number of rows in eight bytes.
 */
struct head {
	unsigned char kind;
	unsigned char key[KEY_SIZE];
	unsigned char size[sizeof(uint32_t)]; /* of what follows, the largest byte first */
};

/* The part of a database that is the same in each of these engines. */
struct key_values {
	unsigned char *buffer;
	size_t size, capacity; /* of what is rendered */
	const struct options *options;
	bool writes;   /* the rendered transaction writes something */
	size_t loaded; /* bytes of rows since the last were written */
};

bool key_values_open(struct key_values *key_values, const struct options *options,
		     const struct workload *workload, struct error *error);
void key_values_close(struct key_values *key_values);

/* Executes the operations of the rendered transaction, in their order. */
bool key_values_apply(struct database *database, struct outcome *outcome, struct error *error);

/* Hooks of engine.h. */
bool key_values_render(struct database *database, const struct transaction *transaction,
		       struct rendered *rendered, struct error *error);
bool key_values_load(struct database *database, const struct transaction *transaction,
		     struct error *error);
bool key_values_scan(struct database *database, int64_t *rows, struct error *error);
bool key_values_count(struct database *database, int64_t *rows, struct error *error);
bool key_values_each(struct database *database, each_row *take, void *context, struct error *error);
bool key_values_last_key(struct database *database, int64_t *key, struct error *error);

/* A number as `size` bytes, the largest first, and back. */
void encode(unsigned char *bytes, uint64_t number, size_t size);
uint64_t decode(const unsigned char *bytes, size_t size);

/* ---- What the engine defines. */

struct key_values *key_values_of(struct database *database);

/* Reads the value of a key; a missing key is no row. */
bool key_read(struct database *database, const unsigned char *key, struct outcome *outcome,
	      struct error *error);

/* Add a write to the transaction that is applied. */
bool key_put(struct database *database, const unsigned char *key, const unsigned char *value,
	     size_t size, struct error *error);
bool key_delete(struct database *database, const unsigned char *key, struct error *error);

/* Writes what was put while the database is created; more may follow. */
bool rows_write(struct database *database, struct error *error);
/* The hook commit of engine.h, and those of its settings. */
bool rows_commit(struct database *database, struct outcome *outcome, struct error *error);
extern const struct option settings[];
const char *settings_title(void);
bool settings_read(struct database *database, size_t index, char *answer, size_t size,
		   struct error *error);
bool settings_read_properties(struct database *database, struct error *error);
void settings_write_properties(struct json *json, size_t number);
void settings_write_version(struct json *json);

/* Entries of the table of engine.h that are the same in each of these engines. */
#define KEY_VALUES_HOOKS                                                                         \
	.settings = settings, .title = settings_title, .load = key_values_load,                  \
	.render = key_values_render, .commit = rows_commit, .count = key_values_count,           \
	.each = key_values_each, .last_key = key_values_last_key, .read_setting = settings_read, \
	.read_properties = settings_read_properties, .write_version = settings_write_version,    \
	.write_properties = settings_write_properties, .log_prepare = engine_files_prepare,      \
	.log_begin = engine_files_begin

/* A cursor over the rows in the order of their keys. `cursor_close` frees it, and fails if reading
 * failed. */
enum move { MOVE_FIRST, MOVE_LAST, MOVE_KEY, MOVE_NEXT };
struct row {
	const unsigned char *key, *value; /* valid until the next move */
	size_t key_size, size;		  /* of the value */
};
struct cursor;
struct cursor *cursor_open(struct database *database, struct error *error);
/* Returns whether there is a row. `key`: for MOVE_KEY, to the first row that is not before it. */
bool cursor_move(struct cursor *cursor, enum move move, const unsigned char *key, struct row *row);
bool cursor_close(struct cursor *cursor, struct error *error);
