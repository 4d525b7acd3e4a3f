/* Decides whether a statement does the same when it is executed again, by its functions, tables and
 * pragmas: if it may not, its transaction is not logged, and the commit is a checkpoint. SQLite's
 * authorizer reports what a statement uses while it is compiled, in triggers and views too, but not
 * functions in a DEFAULT or CHECK, which are found in the schema's text. */
#include <ctype.h>
#include <string.h>

#include "state.h"

/* SQLite's functions that depend only on their arguments and on a record's content: the time,
 * random numbers and last_insert_rowid; and keywords that stand before a parenthesis, as functions
 * do in the schema's text. Names are separated by blanks. */
static const char functions[] =
	"-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce "
	"concat concat_ws cos cosh count cume_dist current_date current_time current_timestamp "
	"date datetime degrees dense_rank exp first_value floor format glob group_concat hex "
	"ifnull iif instr json json_array json_array_length json_error_position json_extract "
	"json_group_array json_group_object json_insert json_object json_patch json_pretty "
	"json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array "
	"jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch "
	"jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid last_value lead "
	"length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile "
	"nullif octet_length percent_rank pi pow power printf quote radians random randomblob "
	"rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg substr "
	"substring subtype sum tan tanh time timediff total trim trunc typeof unhex unicode "
	"unixepoch unlikely upper zeroblob "
	"and between case cast else in is not or then when";

/* Pragmas that change what statements do: repeated before a record's statements. */
static const char *const repeated[REPEATED_PRAGMAS] = {
	"automatic_index",	    "case_sensitive_like", "count_changes",
	"ignore_check_constraints", "recursive_triggers",  "reverse_unordered_selects",
	"trusted_schema",
};

/* Pragmas with an argument that do not change that: foreign_keys is in every record, and some are
 * refused (vfs_files.c). */
static const char harmless[] =
	"analysis_limit busy_timeout cache_size cache_spill cell_size_check collation_list "
	"data_version encoding foreign_key_check foreign_key_list foreign_keys function_list "
	"hard_heap_limit index_info index_list index_xinfo integrity_check journal_mode "
	"journal_size_limit locking_mode mmap_size module_list optimize page_count pragma_list "
	"quick_check secure_delete shrink_memory soft_heap_limit synchronous table_info "
	"table_list table_xinfo temp_store threads wal_autocheckpoint wal_checkpoint";

/* SQLite's internal tables that behave as ordinary ones. */
static const char *const own_tables[] = {"sqlite_master", "sqlite_schema", "sqlite_sequence",
					 "sqlite_stat1", "sqlite_stat4"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int place(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (sqlite3_stricmp(list[i], name) == 0)
			return (int)i;
	return -1;
}

/* Returns whether a list of names separated by blanks has one. */
static bool lists(const char *list, const char *name)
{
	int length = (int)strlen(name);

	for (; *list != '\0'; list += strspn(list, " ")) {
		size_t size = strcspn(list, " ");

		if ((int)size == length && sqlite3_strnicmp(list, name, length) == 0)
			return true;
		list += size;
	}
	return false;
}

bool classify_repeats(const char *function)
{
	return lists(functions, function);
}

void taint(struct ssl *ssl, enum ssl_reason reason)
{
	if (ssl->transaction.taint == SSL_NO_REASON)
		ssl->transaction.taint = reason;
}

static void taint_statement(struct ssl *ssl, enum ssl_reason reason)
{
	struct ssl_stmt *statement = ssl->preparing != NULL ? ssl->preparing : ssl->stepping;

	if (statement == NULL) {
		/* not compiled by us, so it may be executed at any time; a program whose
		 * connection was adopted has only such, and commits by checkpoints */
		if (!ssl->adopted && ssl->always == SSL_NO_REASON)
			ssl->always = SSL_NOT_CAPTURED;
	} else {
		if (statement->taint == SSL_NO_REASON)
			statement->taint = reason;
		statement->schema |= reason == SSL_SCHEMA;
		if (statement == ssl->stepping)
			taint(ssl, reason);
	}
}

/* Classifies a pragma with an argument. */
static void classify_pragma(struct ssl *ssl, const char *name)
{
	int at = place(repeated, REPEATED_PRAGMAS, name);

	if (at >= 0 && ssl->preparing != NULL)
		ssl->preparing->pragma = at;
	else if (at >= 0 || !lists(harmless, name))
		ssl->always = SSL_NOT_CAPTURED;
}

static void classify_table(struct ssl *ssl, const char *table, const char *database)
{
	if (database != NULL && strcmp(database, "main") != 0)
		taint_statement(ssl, SSL_OTHER_DATABASE);
	else if (place(own_tables, COUNT(own_tables), table) < 0 &&
		 place((const char *const *)ssl->tables, ssl->table_count, table) < 0)
		taint_statement(ssl, SSL_OTHER_DATABASE);
}

/* Returns whether the statement being compiled is not ours. */
static bool foreign(const struct ssl *ssl)
{
	return ssl->preparing == NULL && ssl->stepping == NULL;
}

static int authorize(void *argument, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	struct ssl *ssl = argument;

	ssl->authorized++;
	if (ssl->internal)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION:
		break;
	case SQLITE_SAVEPOINT:
		if (foreign(ssl))
			taint_statement(ssl, SSL_NOT_CAPTURED);
		break;
	case SQLITE_READ:
		/* a subquery of another statement's has no table */
		if (!foreign(ssl) && first[0] != '\0')
			classify_table(ssl, first, database);
		break;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
		if (foreign(ssl))
			taint_statement(ssl, SSL_NOT_CAPTURED);
		else
			classify_table(ssl, first, database);
		break;
	case SQLITE_FUNCTION:
		if (!foreign(ssl) && !classify_repeats(second))
			taint_statement(ssl, SSL_NOT_REPEATABLE);
		break;
	case SQLITE_PRAGMA:
		if (second != NULL)
			classify_pragma(ssl, first);
		break;
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		if (!foreign(ssl))
			taint_statement(ssl, SSL_OTHER_DATABASE);
		break;
	case SQLITE_CREATE_TEMP_TRIGGER:
		/* it belongs to the connection, and changes other programs' statements */
		ssl->always = SSL_OTHER_DATABASE;
		break;
	default: /* CREATE, DROP, ALTER, ANALYZE, REINDEX */
		taint_statement(ssl, SSL_SCHEMA);
		ssl->schema_stale |= foreign(ssl);
	}
	return SQLITE_OK;
}

static bool in_word(char c)
{
	return isalnum((uint8_t)c) || c == '_';
}

bool has_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; i + length <= size; i++)
		if (sqlite3_strnicmp(text + i, word, (int)length) == 0 &&
		    (i == 0 || !in_word(word[0]) || !in_word(text[i - 1])) &&
		    (i + length == size || !in_word(word[length - 1]) ||
		     !in_word(text[i + length])))
			return true;
	return false;
}

enum ssl_reason classify_text(const char *text, size_t size)
{
	/* the time zone is the machine's */
	return has_word(text, size, "localtime") || has_word(text, size, "utc") ? SSL_NOT_REPEATABLE
										: SSL_NO_REASON;
}

bool begins_with(const char *text, const char *word)
{
	size_t length = strlen(word);

	return sqlite3_strnicmp(text, word, (int)length) == 0 && !in_word(text[length]);
}

bool classify_writes(const char *sql, bool readonly)
{
	sql = skip_comments(sql);
	if (begins_with(sql, "BEGIN") || begins_with(sql, "COMMIT") || begins_with(sql, "END"))
		return false;
	if (begins_with(sql, "SAVEPOINT") || begins_with(sql, "RELEASE"))
		return true;
	if (!begins_with(sql, "ROLLBACK"))
		return !readonly;
	sql = skip_comments(sql + strlen("ROLLBACK"));
	if (begins_with(sql, "TRANSACTION"))
		sql = skip_comments(sql + strlen("TRANSACTION"));
	return begins_with(sql, "TO");
}

void classify_unasked(struct ssl_stmt *statement)
{
	static const char *const of_rows[] = {"DELETE", "INSERT", "REPLACE", "UPDATE", "WITH"};
	const char *sql = skip_comments(sqlite3_sql(statement->statement));

	/* SQLite does not call the authorizer for VACUUM, or for an existing index */
	statement->taint = SSL_SCHEMA;
	/* an app has replaced our authorizer, so nothing is known */
	for (size_t i = 0; i < COUNT(of_rows); i++)
		if (begins_with(sql, of_rows[i]))
			statement->ssl->always = SSL_NOT_CAPTURED;
}

int classify_connect(struct ssl *ssl)
{
	return sqlite3_set_authorizer(ssl->db, authorize, ssl);
}
