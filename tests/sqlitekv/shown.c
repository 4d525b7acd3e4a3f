/* Opens sqlitekv's tables, executes SQL, prints rows as texts: shared by this folder's programs. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "shown.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void fail(const char *what, const char *detail)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		detail != NULL ? detail : "no message");
	exit(1);
}

struct store *open_kv(const char *folder, const struct store_options *options, bool blind,
		      sqlite3 **db)
{
	struct module *module;
	struct store *store;
	char *message = NULL;

	if (sqlite3_open(":memory:", db) != SQLITE_OK || module_register(*db, &module) != SQLITE_OK)
		fail("open", folder);
	if (module_attach(module, folder, options, true, blind, &store, &message) != SQLITE_OK)
		fail(folder, message);
	return store;
}

void execute(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail(sql, message);
}

static void add_real(sqlite3_str *text, double real)
{
	/* SQLite prints no sign of -0.0 */
	sqlite3_str_appendf(text, "%s%!.17g", signbit(real) ? "-" : "", real);
}

static void add_bytes(sqlite3_str *text, int type, const unsigned char *bytes, int size)
{
	for (int byte = 0; byte < size; byte++)
		sqlite3_str_appendf(text, type == SQLITE_BLOB || bytes[byte] < ' ' ? "%02x" : "%c",
				    bytes[byte]);
}

char *row_text(sqlite3_stmt *statement)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		int type = sqlite3_column_type(statement, i);
		const unsigned char *bytes;

		sqlite3_str_appendf(text, "|%d:", type);
		if (type == SQLITE_FLOAT) {
			add_real(text, sqlite3_column_double(statement, i));
			continue;
		}
		bytes = sqlite3_column_blob(statement, i);
		add_bytes(text, type, bytes, sqlite3_column_bytes(statement, i));
	}
	return sqlite3_str_finish(text);
}

char *direct_text(const struct direct *direct)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (int i = 0; i < direct->count; i++) {
		const struct field *field = &direct->fields[i];

		sqlite3_str_appendf(text, "|%d:", field->type);
		if (field->type == SQLITE_FLOAT)
			add_real(text, field->real);
		else if (field->type == SQLITE_INTEGER)
			sqlite3_str_appendf(text, "%lld", (long long)field->integer);
		else
			add_bytes(text, field->type, field->bytes.data, (int)field->bytes.size);
	}
	return sqlite3_str_finish(text);
}
