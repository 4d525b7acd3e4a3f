/* Logs INSERT, UPDATE and DELETE statements of programs that use SQLite's own calls and not those
 * of ssl.h, by SQLite's trace, which reports their begin and end; other commits are checkpoints.
 * Logged is a statement without parameters or columns, in its own transaction. A commit between
 * begin and end shows that it succeeded. Why others are checkpoints:
 * - parameters cannot be read, and sqlite3_expanded_sql does not reproduce them exactly;
 * - between BEGIN and COMMIT a blob may be written in place, or a statement fail, unnoticed;
 * - a statement with the word FAIL may fail and keep some of its changes;
 * - a function or collation of the program, in its text or the schema's, is not available in a
 *   recovery;
 * - if the update hook sees no row, the program may have replaced it (schema.c). */
#include <string.h>

#include "state.h"

/* Settings of sqlite3_db_config that change a text's meaning and are not in a record (record.c). */
static const int settings[UNREPEATED_SETTINGS] = {
	SQLITE_DBCONFIG_DQS_DML,
	SQLITE_DBCONFIG_WRITABLE_SCHEMA,
	SQLITE_DBCONFIG_REVERSE_SCANORDER,
};

static int setting(const struct ssl *ssl, int number)
{
	int value = 0;

	sqlite3_db_config(ssl->db, settings[number], -1, &value);
	return value;
}

/* Adds the results of a query of one column to a text, or searches the text for them; found: one of
 * them is in it. */
static int each_answer(struct ssl *ssl, const char *sql, struct bytes *text, bool *found)
{
	sqlite3_stmt *row = NULL;
	int result = sqlite3_prepare_v2(ssl->db, sql, -1, &row, NULL);

	while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
		const char *answer = (const char *)sqlite3_column_text(row, 0);

		result = SQLITE_OK;
		if (answer == NULL)
			continue;
		if (found == NULL)
			bytes_add(text, answer, strlen(answer) + 1);
		else
			*found |= has_word((const char *)text->data, text->size, answer);
	}
	sqlite3_finalize(row);
	return result == SQLITE_DONE && !text->failed ? SQLITE_OK : SQLITE_ERROR;
}

/* Returns whether a statement and the schema's part of it use only SQLite's functions, and are done
 * completely or not at all. */
static bool is_plain(struct ssl *ssl, const char *sql)
{
	static const char schema[] = "SELECT sql FROM main.sqlite_master";
	static const char own[] =
		"SELECT name FROM pragma_function_list WHERE NOT builtin"
		" AND name NOT IN ('random', 'randomblob', 'ssl_stats', 'ssl_inspect')"
		" UNION SELECT name FROM pragma_collation_list"
		" WHERE name NOT IN ('BINARY', 'NOCASE', 'RTRIM')";
	struct bytes text = {0};
	bool found = false, done;

	bytes_add(&text, sql, strlen(sql) + 1);
	ssl->internal = true;
	done = each_answer(ssl, schema, &text, NULL) == SQLITE_OK;
	found = done && has_word((const char *)text.data, text.size, "FAIL");
	done = done && each_answer(ssl, own, &text, &found) == SQLITE_OK;
	ssl->internal = false;
	bytes_free(&text);
	return done && !found;
}

static bool is_fit(struct ssl *ssl, sqlite3_stmt *statement, const char *sql)
{
	static const char *const words[] = {"INSERT", "UPDATE", "DELETE", "REPLACE"};
	bool is_change = false;

	if (sql == NULL || release_in_transaction(ssl->db) || sqlite3_stmt_readonly(statement) ||
	    sqlite3_bind_parameter_count(statement) > 0 || sqlite3_column_count(statement) > 0)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		is_change |= begins_with(skip_comments(sql), words[i]);
	for (int i = 0; i < UNREPEATED_SETTINGS; i++)
		is_change &= setting(ssl, i) == ssl->unrepeated[i];
	return is_change && ssl->always == SSL_NO_REASON && is_plain(ssl, sql);
}

/* The program's statement ends: it is in the log, or cannot be a record. */
static void ends(struct ssl *ssl)
{
	if (ssl->plain != NULL) {
		ssl_current = NULL;
		ssl_finalize(ssl->plain);
		ssl->plain = NULL;
		ssl->plain_of = NULL;
		transaction_clear(ssl);
	}
	/* in case a program has removed our hook for it */
	if (!release_in_transaction(ssl->db))
		commit_cancel(ssl);
}

static void begins(struct ssl *ssl, sqlite3_stmt *statement)
{
	const char *sql = sqlite3_sql(statement);
	struct ssl_stmt *copy = NULL;

	/* triggers are reported as their statement; its other statements are not repeatable */
	if (ssl->plain != NULL) {
		if (statement != ssl->plain_of)
			taint(ssl, SSL_NOT_CAPTURED);
		return;
	}
	if (!is_fit(ssl, statement, sql))
		return;
	/* compiled again, which classifies it */
	ssl->schema_stale = true;
	if (ssl_prepare(ssl, sql, -1, &copy, NULL) != SQLITE_OK || copy == NULL)
		return;
	if (!copy->writes || copy->schema || copy->pragma >= 0 || copy->taint != SSL_NO_REASON) {
		ssl_finalize(copy);
		return;
	}
	transaction_clear(ssl);
	record_begin(copy);
	/* until the update hook sees a row */
	ssl->transaction.any = false;
	ssl->plain = copy;
	ssl->plain_of = statement;
	ssl_current = ssl;
}

static int traced(unsigned kind, void *context, void *statement, void *text)
{
	struct ssl *ssl = context;

	if (ssl->internal || ssl->database == NULL)
		return 0;
	if (kind == SQLITE_TRACE_STMT)
		begins(ssl, statement);
	else if (ssl->plain == NULL || statement == ssl->plain_of)
		ends(ssl);
	return 0;
}

int plain_connect(struct ssl *ssl)
{
	for (int i = 0; i < UNREPEATED_SETTINGS; i++)
		ssl->unrepeated[i] = setting(ssl, i);
	return sqlite3_trace_v2(ssl->db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, traced, ssl);
}
