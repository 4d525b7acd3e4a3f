/* Encodes a transaction's statements and values as a record of the log, and executes such a record
 * again after a crash.
 *
 *   record: settings, number of pragmas, their texts, last_insert_rowid, then entries to its end
 *   entry:  1, a text: the next template; or 2, a statement: template, used, [time], [seed],
 *           number of values, values
 *   value:  type, then the number, 8 bytes of a real, or size and bytes
 *
 * Numbers are as bytes_number has them, a text is its size and bytes. */
#include <string.h>

#include "state.h"

enum { ENTRY_TEMPLATE = 1, ENTRY_STATEMENT = 2 };
enum { USED_TIME = 1, USED_RANDOM = 2 };

/* Settings of sqlite3_db_config that change what statements do. */
static const int settings[] = {SQLITE_DBCONFIG_ENABLE_FKEY, SQLITE_DBCONFIG_ENABLE_TRIGGER,
			       SQLITE_DBCONFIG_ENABLE_VIEW};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void add_text(struct bytes *bytes, const char *text)
{
	size_t size = strlen(text);

	bytes_number(bytes, size);
	bytes_add(bytes, text, size);
}

void transaction_clear(struct ssl *ssl)
{
	struct transaction_log *transaction = &ssl->transaction;

	transaction->number++;
	transaction->executing = NULL;
	transaction->templates = 0;
	transaction->any = false;
	transaction->taint = SSL_NO_REASON;
	bytes_clear(&transaction->head);
	bytes_clear(&transaction->body);
	bytes_clear(&transaction->statement);
}

void transaction_free(struct ssl *ssl)
{
	bytes_free(&ssl->transaction.head);
	bytes_free(&ssl->transaction.body);
	bytes_free(&ssl->transaction.statement);
}

static void begin_record(struct ssl *ssl)
{
	struct bytes *head = &ssl->transaction.head;
	uint64_t on = 0, pragmas = 0;

	for (size_t i = 0; i < SETTINGS; i++) {
		int value = 0;

		sqlite3_db_config(ssl->db, settings[i], -1, &value);
		on |= (uint64_t)value << i;
	}
	for (size_t i = 0; i < REPEATED_PRAGMAS; i++)
		pragmas += ssl->pragmas[i] != NULL;
	bytes_number(head, on);
	bytes_number(head, pragmas);
	for (size_t i = 0; i < REPEATED_PRAGMAS; i++)
		if (ssl->pragmas[i] != NULL)
			add_text(head, ssl->pragmas[i]);
	bytes_signed(head, sqlite3_last_insert_rowid(ssl->db));
	ssl->transaction.any = true;
}

void value_set(struct value *value, int type, const void *data, size_t size)
{
	value->type = type;
	bytes_clear(&value->bytes);
	bytes_add(&value->bytes, data, size);
}

static void add_value(struct bytes *bytes, const struct value *value)
{
	bytes_byte(bytes, (uint8_t)value->type);
	bytes->failed |= value->bytes.failed;
	if (value->bytes.failed)
		return;
	switch (value->type) {
	case VALUE_NULL:
		break;
	case VALUE_INTEGER:
	case VALUE_ZEROS: {
		int64_t number;

		memcpy(&number, value->bytes.data, sizeof(number));
		bytes_signed(bytes, number);
		break;
	}
	case VALUE_REAL:
		bytes_add(bytes, value->bytes.data, sizeof(double));
		break;
	default:
		bytes_number(bytes, value->bytes.size);
		bytes_add(bytes, value->bytes.data, value->bytes.size);
	}
}

static void add_template(struct ssl_stmt *statement)
{
	struct transaction_log *transaction = &statement->ssl->transaction;

	if (statement->template_of == transaction->number)
		return;
	bytes_byte(&transaction->body, ENTRY_TEMPLATE);
	add_text(&transaction->body, sqlite3_sql(statement->statement));
	statement->template_of = transaction->number;
	statement->template_at = transaction->templates++;
}

/* Records a statement's values before it is executed. */
void record_begin(struct ssl_stmt *statement)
{
	struct ssl *ssl = statement->ssl;
	struct transaction_log *transaction = &ssl->transaction;
	struct bytes *bytes = &transaction->statement;

	if (!transaction->any)
		begin_record(ssl);
	add_template(statement);
	transaction->executing = statement;
	transaction->used_time = transaction->used_random = false;
	bytes_clear(bytes);
	bytes_number(bytes, (uint64_t)statement->value_count);
	for (int i = 0; i < statement->value_count; i++)
		add_value(bytes, &statement->values[i]);
}

/* Adds the executing statement to the record, with what it used. */
void record_statement(struct ssl *ssl)
{
	struct transaction_log *transaction = &ssl->transaction;
	struct bytes *body = &transaction->body;
	bool capture = ssl->options.policy != SSL_IGNORE;
	uint64_t used = 0;

	if (transaction->executing == NULL)
		return;
	if (capture && transaction->used_time)
		used |= USED_TIME;
	if (capture && transaction->used_random)
		used |= USED_RANDOM;
	bytes_byte(body, ENTRY_STATEMENT);
	bytes_number(body, transaction->executing->template_at);
	bytes_number(body, used);
	if (used & USED_TIME)
		bytes_signed(body, transaction->time);
	if (used & USED_RANDOM)
		bytes_number(body, transaction->seed);
	bytes_add(body, transaction->statement.data, transaction->statement.size);
	body->failed |= transaction->statement.failed;
	transaction->executing = NULL;
}

/* False: out of memory. */
bool record_payload(struct ssl *ssl, struct bytes *payload)
{
	const struct transaction_log *transaction = &ssl->transaction;

	bytes_add(payload, transaction->head.data, transaction->head.size);
	bytes_add(payload, transaction->body.data, transaction->body.size);
	return !payload->failed && !transaction->head.failed && !transaction->body.failed;
}

/* Execution again */

static int run_text(struct ssl *ssl, struct reader *reader)
{
	size_t size = read_number(reader);
	const uint8_t *text = read_bytes(reader, size);
	char *sql;
	int result;

	if (reader->bad)
		return SQLITE_CORRUPT;
	sql = sqlite3_mprintf("%.*s", (int)size, (const char *)text);
	if (sql == NULL)
		return SQLITE_NOMEM;
	result = sqlite3_exec(ssl->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return result;
}

static int bind_bytes(sqlite3_stmt *statement, int index, int type, struct reader *reader)
{
	size_t size = read_number(reader);
	const void *data = read_bytes(reader, size);

	if (reader->bad)
		return SQLITE_CORRUPT;
	if (type == VALUE_TEXT)
		return sqlite3_bind_text64(statement, index, data, size, SQLITE_STATIC,
					   SQLITE_UTF8);
	if (type == VALUE_TEXT16)
		return sqlite3_bind_text64(statement, index, data, size, SQLITE_TRANSIENT,
					   SQLITE_UTF16);
	return sqlite3_bind_blob64(statement, index, data, size, SQLITE_STATIC);
}

static int bind_value(sqlite3_stmt *statement, int index, struct reader *reader)
{
	int type = read_byte(reader);
	const uint8_t *bytes;
	double real;

	switch (type) {
	case VALUE_NULL:
		return sqlite3_bind_null(statement, index);
	case VALUE_INTEGER:
		return sqlite3_bind_int64(statement, index, read_signed(reader));
	case VALUE_REAL:
		bytes = read_bytes(reader, sizeof(real));
		if (bytes == NULL)
			return SQLITE_CORRUPT;
		memcpy(&real, bytes, sizeof(real));
		return sqlite3_bind_double(statement, index, real);
	case VALUE_ZEROS:
		return sqlite3_bind_zeroblob64(statement, index,
					       (sqlite3_uint64)read_signed(reader));
	default:
		return bind_bytes(statement, index, type, reader);
	}
}

static int run_statement(struct ssl *ssl, sqlite3_stmt **templates, uint64_t count,
			 struct reader *reader)
{
	struct transaction_log *transaction = &ssl->transaction;
	uint64_t at = read_number(reader), used = read_number(reader), values;
	sqlite3_stmt *statement;
	int result = SQLITE_OK;

	transaction->used_time = used & USED_TIME;
	transaction->used_random = used & USED_RANDOM;
	if (used & USED_TIME)
		transaction->time = read_signed(reader);
	if (used & USED_RANDOM)
		ssl->random.state = read_number(reader);
	values = read_number(reader);
	if (reader->bad || at >= count)
		return SQLITE_CORRUPT;
	statement = templates[at];
	for (uint64_t i = 1; result == SQLITE_OK && i <= values; i++)
		result = bind_value(statement, (int)i, reader);
	if (result != SQLITE_OK)
		return result;
	do
		result = sqlite3_step(statement);
	while (result == SQLITE_ROW);
	if (result != SQLITE_DONE)
		error_set(ssl->error, "%s: a statement of its log failed: %s: %s", ssl->path,
			  sqlite3_sql(statement), sqlite3_errmsg(ssl->db));
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int add_prepared(struct ssl *ssl, struct reader *reader, sqlite3_stmt ***templates,
			uint64_t *count)
{
	size_t size = read_number(reader);
	const uint8_t *text = read_bytes(reader, size);
	sqlite3_stmt **more;
	int result;

	if (reader->bad)
		return SQLITE_CORRUPT;
	more = sqlite3_realloc64(*templates, (*count + 1) * sizeof(*more));
	if (more == NULL)
		return SQLITE_NOMEM;
	*templates = more;
	result = sqlite3_prepare_v2(ssl->db, (const char *)text, (int)size, &more[*count], NULL);
	if (result != SQLITE_OK)
		error_set(ssl->error, "%s: a statement of its log failed: %.*s: %s", ssl->path,
			  (int)size, (const char *)text, sqlite3_errmsg(ssl->db));
	else
		++*count;
	return result;
}

static int run_entries(struct ssl *ssl, struct reader *reader)
{
	sqlite3_stmt **templates = NULL;
	uint64_t count = 0;
	int result = SQLITE_OK;

	while (result == SQLITE_OK && reader->next < reader->end) {
		uint8_t entry = read_byte(reader);

		if (entry == ENTRY_TEMPLATE)
			result = add_prepared(ssl, reader, &templates, &count);
		else if (entry == ENTRY_STATEMENT)
			result = run_statement(ssl, templates, count, reader);
		else
			result = SQLITE_CORRUPT;
	}
	for (uint64_t i = 0; i < count; i++)
		sqlite3_finalize(templates[i]);
	sqlite3_free(templates);
	return result;
}

int record_replay(struct ssl *ssl, const uint8_t *payload, size_t size)
{
	struct reader reader = {payload, payload + size, false};
	uint64_t on = read_number(&reader), pragmas = read_number(&reader);
	int64_t rowid;
	int result = SQLITE_OK;

	for (size_t i = 0; i < SETTINGS; i++)
		sqlite3_db_config(ssl->db, settings[i], (int)(on >> i & 1), NULL);
	for (uint64_t i = 0; result == SQLITE_OK && i < pragmas; i++)
		result = run_text(ssl, &reader);
	rowid = read_signed(&reader);
	if (result == SQLITE_OK)
		result = release_set_rowid(ssl->db, rowid);
	if (result == SQLITE_OK)
		result = sqlite3_exec(ssl->db, "BEGIN", NULL, NULL, NULL);
	if (result == SQLITE_OK)
		result = run_entries(ssl, &reader);
	if (result == SQLITE_OK)
		result = sqlite3_exec(ssl->db, "COMMIT", NULL, NULL, NULL);
	if (result == SQLITE_CORRUPT && ssl->error->text[0] == '\0')
		error_set(ssl->error, "%s: a record of its log is none", ssl->path);
	return result;
}
