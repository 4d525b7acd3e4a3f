/* Wraps SQLite's calls for programs (ssl_prepare, ssl_bind_…, ssl_step, …): adds a statement that
 * writes, with its values, to the log's record, or marks its transaction as one that needs a
 * checkpoint instead. */
#include <string.h>

#include "state.h"

static bool grow_values(struct ssl_stmt *made)
{
	size_t size = (size_t)made->value_count * sizeof(*made->values);

	if (size == 0)
		return true;
	made->values = sqlite3_malloc64(size);
	if (made->values != NULL)
		memset(made->values, 0, size);
	return made->values != NULL;
}

int ssl_prepare(struct ssl *ssl, const char *sql, int bytes, struct ssl_stmt **statement,
		const char **tail)
{
	struct ssl_stmt *outer = ssl->preparing, *made;
	uint64_t authorized = ssl->authorized;
	int result = SQLITE_OK;

	*statement = NULL;
	if (ssl->schema_stale)
		result = classify_schema(ssl);
	if (result != SQLITE_OK)
		return result;
	made = sqlite3_malloc64(sizeof(*made));
	if (made == NULL)
		return SQLITE_NOMEM;
	*made = (struct ssl_stmt){.ssl = ssl, .pragma = -1};
	ssl->preparing = made;
	result = sqlite3_prepare_v2(ssl->db, sql, bytes, &made->statement, tail);
	ssl->preparing = outer;
	if (result == SQLITE_OK && made->statement != NULL) {
		const char *text = sqlite3_sql(made->statement);

		made->value_count = sqlite3_bind_parameter_count(made->statement);
		made->writes = classify_writes(text, sqlite3_stmt_readonly(made->statement));
		if (made->writes && ssl->authorized == authorized)
			classify_unasked(made);
		if (made->writes && made->taint == SSL_NO_REASON)
			made->taint = classify_text(text, strlen(text));
		if (!grow_values(made))
			result = SQLITE_NOMEM;
	}
	if (result != SQLITE_OK || made->statement == NULL) {
		sqlite3_finalize(made->statement);
		sqlite3_free(made);
		return result;
	}
	*statement = made;
	return SQLITE_OK;
}

/* Keeps a value that SQLite took; without data it is NULL. */
static int keep(struct ssl_stmt *statement, int result, int index, int type, const void *data,
		size_t size)
{
	if (result == SQLITE_OK)
		value_set(&statement->values[index - 1], data != NULL ? type : VALUE_NULL, data,
			  data != NULL ? size : 0);
	return result;
}

int ssl_bind_null(struct ssl_stmt *statement, int index)
{
	int result = sqlite3_bind_null(statement->statement, index);

	return keep(statement, result, index, VALUE_NULL, NULL, 0);
}

int ssl_bind_int64(struct ssl_stmt *statement, int index, int64_t value)
{
	int result = sqlite3_bind_int64(statement->statement, index, value);

	return keep(statement, result, index, VALUE_INTEGER, &value, sizeof(value));
}

int ssl_bind_double(struct ssl_stmt *statement, int index, double value)
{
	int result = sqlite3_bind_double(statement->statement, index, value);

	return keep(statement, result, index, VALUE_REAL, &value, sizeof(value));
}

int ssl_bind_text(struct ssl_stmt *statement, int index, const char *value, int bytes)
{
	int result = sqlite3_bind_text(statement->statement, index, value, bytes, SQLITE_TRANSIENT);

	return keep(statement, result, index, VALUE_TEXT, value,
		    bytes < 0 && value != NULL ? strlen(value) : (size_t)bytes);
}

int ssl_bind_text16(struct ssl_stmt *statement, int index, const void *value, int bytes)
{
	int result =
		sqlite3_bind_text16(statement->statement, index, value, bytes, SQLITE_TRANSIENT);
	const uint16_t *units = value;
	size_t size = 0;

	if (bytes >= 0)
		size = (size_t)bytes / sizeof(*units) * sizeof(*units);
	else
		while (value != NULL && units[size / sizeof(*units)] != 0)
			size += sizeof(*units);
	return keep(statement, result, index, VALUE_TEXT16, value, size);
}

int ssl_bind_blob(struct ssl_stmt *statement, int index, const void *value, int bytes)
{
	int result = sqlite3_bind_blob(statement->statement, index, value, bytes, SQLITE_TRANSIENT);

	return keep(statement, result, index, VALUE_BLOB, value, (size_t)bytes);
}

int ssl_bind_zeroblob(struct ssl_stmt *statement, int index, int bytes)
{
	int result = sqlite3_bind_zeroblob(statement->statement, index, bytes);
	int64_t size = bytes > 0 ? bytes : 0;

	return keep(statement, result, index, VALUE_ZEROS, &size, sizeof(size));
}

/* A modifier that is given as a value: a text, in UTF-16 with zeros in it, or a blob. */
static bool is_modifier(const struct value *value)
{
	char text[16];
	size_t size = 0;

	if (value->type != VALUE_TEXT && value->type != VALUE_TEXT16 && value->type != VALUE_BLOB)
		return false;
	for (size_t i = 0; i < value->bytes.size; i++) {
		if (value->bytes.data[i] == 0)
			continue;
		if (size == sizeof(text))
			return false;
		text[size++] = (char)value->bytes.data[i];
	}
	return classify_text(text, size) != SSL_NO_REASON;
}

static bool value_taints(const struct ssl_stmt *statement)
{
	for (int i = 0; i < statement->value_count; i++)
		if (is_modifier(&statement->values[i]))
			return true;
	return false;
}

static void begin(struct ssl_stmt *statement)
{
	struct ssl *ssl = statement->ssl;

	statement->running = true;
	if (!release_in_transaction(ssl->db))
		transaction_clear(ssl);
	if (!statement->writes)
		return;
	if (statement->taint != SSL_NO_REASON)
		taint(ssl, statement->taint);
	if (ssl->depth > 1)
		taint(ssl, SSL_NOT_CAPTURED);
	if (value_taints(statement))
		taint(ssl, SSL_NOT_REPEATABLE);
	record_begin(statement);
}

static void keep_pragma(struct ssl_stmt *statement)
{
	struct ssl *ssl = statement->ssl;
	char *text = sqlite3_mprintf("%s", sqlite3_sql(statement->statement));

	if (text == NULL) {
		ssl->always = SSL_NOT_CAPTURED;
		return;
	}
	sqlite3_free(ssl->pragmas[statement->pragma]);
	ssl->pragmas[statement->pragma] = text;
	/* earlier statements of the transaction were executed without it */
	taint(ssl, SSL_NOT_CAPTURED);
}

/* Handles the result of a call that executed part of a statement. */
static void done(struct ssl_stmt *statement, int result)
{
	struct ssl *ssl = statement->ssl;

	if (result == SQLITE_ROW || result == SQLITE_DONE || result == SQLITE_OK) {
		record_statement(ssl);
		if (result == SQLITE_DONE && statement->pragma >= 0)
			keep_pragma(statement);
		ssl->schema_stale |= statement->schema;
		return;
	}
	ssl->transaction.executing = NULL;
	if (statement->writes)
		taint(ssl, SSL_FAILED_STATEMENT);
	ssl->schema_stale = true;
	/* in case an app has removed our hook for it */
	if (sqlite3_get_autocommit(ssl->db))
		commit_cancel(ssl);
}

int ssl_step(struct ssl_stmt *statement)
{
	struct ssl *ssl = statement->ssl, *outer = ssl_current;
	struct ssl_stmt *stepping = ssl->stepping;
	int result;

	ssl->depth++;
	if (!statement->running)
		begin(statement);
	ssl_current = ssl;
	ssl->stepping = statement;
	result = sqlite3_step(statement->statement);
	done(statement, result);
	if (result != SQLITE_ROW)
		statement->running = false;
	ssl->stepping = stepping;
	ssl_current = outer;
	ssl->depth--;
	if (ssl->restart_due && result == SQLITE_DONE && ssl->depth == 0)
		checkpoint_restart(ssl);
	return result;
}

/* A reset or finalize may commit. */
static int end(struct ssl_stmt *statement, int (*call)(sqlite3_stmt *))
{
	struct ssl *ssl = statement->ssl;
	struct ssl_stmt *stepping = ssl->stepping;
	int result;

	ssl->stepping = statement;
	result = call(statement->statement);
	if (statement->running && statement->writes && result != SQLITE_OK)
		taint(ssl, SSL_FAILED_STATEMENT);
	ssl->stepping = stepping;
	statement->running = false;
	return result;
}

int ssl_reset(struct ssl_stmt *statement)
{
	return end(statement, sqlite3_reset);
}

int ssl_finalize(struct ssl_stmt *statement)
{
	int result;

	if (statement == NULL)
		return SQLITE_OK;
	result = end(statement, sqlite3_finalize);
	for (int i = 0; i < statement->value_count; i++)
		bytes_free(&statement->values[i].bytes);
	sqlite3_free(statement->values);
	sqlite3_free(statement);
	return result;
}

sqlite3_stmt *ssl_statement(struct ssl_stmt *statement)
{
	return statement->statement;
}

int ssl_exec(struct ssl *ssl, const char *sql)
{
	int result = SQLITE_OK;

	while (result == SQLITE_OK && *sql != '\0') {
		struct ssl_stmt *statement;
		int stepped;

		result = ssl_prepare(ssl, sql, -1, &statement, &sql);
		if (result != SQLITE_OK || statement == NULL)
			continue;
		do
			stepped = ssl_step(statement);
		while (stepped == SQLITE_ROW);
		result = ssl_finalize(statement);
		if (result == SQLITE_OK && stepped != SQLITE_DONE)
			result = stepped;
	}
	return result;
}

int ssl_blob_write(struct ssl *ssl, sqlite3_blob *blob, const void *data, int bytes, int offset)
{
	if (!(ssl->options.left_out & SSL_BLOBS_UNNOTICED))
		taint(ssl, SSL_NOT_CAPTURED);
	return sqlite3_blob_write(blob, data, bytes, offset);
}
