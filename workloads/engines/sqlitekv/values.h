/* Column values of SQLite as bytes of LevelDB: a column's affinity, encoding and decoding of keys
 * (keys.c) and of rows (values.c). */
#pragma once

#include "kv.h"

/* A value as SQLite stores it. */
struct field {
	int type; /* SQLITE_INTEGER and so on */
	sqlite3_int64 integer;
	double real;
	struct slice bytes; /* of a text or blob */
};

/* Reads a value with the column's affinity applied, as SQLite does before it stores or compares
 * one. `bytes` are valid as long as the value. */
int field_load(struct field *field, sqlite3_value *value, char affinity);

/* Begins a key with the table's part. */
void key_begin(struct bytes *key, uint32_t table);
/* Adds a column, so that keys are in the order of SQLite's comparison. Not of NULL. */
void key_add(struct bytes *key, const struct field *field, enum collation collation);
/* After all keys that begin with `key`, a whole number of columns. */
void key_add_end(struct bytes *key);
/* Takes the table's part. False: the key is damaged. */
bool key_take_table(struct slice *key);
/* Takes a column; a text or blob is written to `text`. */
bool key_take(struct slice *key, char affinity, enum collation collation, struct field *field,
	      struct bytes *text);

/* The schema's and sequence's keys of a table. */
void key_of_schema(struct bytes *key, const char *name);
void key_of_sequence(struct bytes *key, uint32_t table);

/* Writes the columns that are kept in the value. */
void row_write(struct bytes *row, const struct kv_schema *schema, const struct field *fields);
/* Reads one of them. False: the row is damaged. */
bool row_read(struct slice row, const struct kv_schema *schema, int column, struct field *field);
