/* Renders a transaction as SQL text, in which each operation is a text of the workload's table with
 * key and value as literals; loads the rows of a new database by a prepared INSERT. */
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "sql.h"

/* More than a table's text needs in addition to the value, with BEGIN and COMMIT. */
enum { TEXT_AROUND_VALUE = 256, MAX_DIGITS = 20 };

static const char begin[] = "BEGIN;", commit[] = "COMMIT;";

/* Splits a table's text at its marks; the last piece has none. */
static bool cut(const char *text, struct sql_piece pieces[MAX_SQL_PIECES], struct error *error)
{
	for (size_t i = 0; i < MAX_SQL_PIECES; i++) {
		size_t length = strcspn(text, "%");
		char mark = text[length] == '%' ? text[length + 1] : '\0';

		pieces[i] = (struct sql_piece){text, length, mark};
		if (mark == '\0')
			return true;
		text += length + 2;
	}
	return error_set(error, "'%s' has more than %d marks", text, MAX_SQL_PIECES - 1);
}

bool render_open(struct database *database, struct error *error)
{
	size_t batch = workload_batch(database->workload, database->options);
	const char *const *texts = database->workload->table->operations;

	for (size_t i = 0; i < KEY_OPERATIONS; i++)
		if (texts[i] != NULL && !cut(texts[i], database->pieces[i], error))
			return false;
	database->buffer_size = batch * ((size_t)database->options->value_size + TEXT_AROUND_VALUE);
	database->buffer = malloc(database->buffer_size);
	if (database->buffer == NULL)
		return error_set(error, "no memory for a text of %zu bytes", database->buffer_size);
	memset(database->buffer, 0xff, database->buffer_size);
	return true;
}

static char *append(char *end, const char *text, size_t length)
{
	memcpy(end, text, length);
	return end + length;
}

/* A literal of letters and digits, which need no escape. */
static char *append_value(char *end, const struct operation *operation)
{
	*end++ = '\'';
	end = append(end, operation->data, operation->size);
	*end++ = '\'';
	return end;
}

/* Keys are not negative. With printf this would take most of the rendering time. */
static char *append_number(char *end, int64_t number)
{
	char digits[MAX_DIGITS], *first = digits + MAX_DIGITS;

	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	return append(end, first, (size_t)(digits + MAX_DIGITS - first));
}

/* Appends a table's text with the operation's key and value. */
static char *append_operation(char *end, const struct sql_piece *piece,
			      const struct operation *operation)
{
	for (;; piece++) {
		end = append(end, piece->text, piece->length);
		if (piece->mark == 'v')
			end = append_value(end, operation);
		else if (piece->mark == 'k')
			end = append_number(end, operation->key);
		else if (piece->mark == 'n')
			end = append_number(end, operation->rows);
		else
			return end;
	}
}

bool sqlite_render(struct database *database, const struct transaction *transaction,
		   struct rendered *rendered, struct error *error)
{
	const struct operation *first = transaction->operations;
	char *end = database->buffer;

	if (transaction->count == 1 && first->kind == OPERATION_SQL) {
		database->text = first->data;
		database->length = first->size;
		database->line = first->line;
		*rendered = (struct rendered){first->data, first->size};
		return true;
	}
	if (transaction->count > 1)
		end = append(end, begin, strlen(begin));
	for (size_t i = 0; i < transaction->count; i++) {
		const struct operation *operation = &first[i];

		if (operation->kind >= KEY_OPERATIONS ||
		    database->pieces[operation->kind][0].text == NULL)
			return error_set(error, "the workload has no SQL text of a %s",
					 operation_traits[operation->kind].word);
		if ((size_t)(end - database->buffer) + operation->size + TEXT_AROUND_VALUE >
		    database->buffer_size)
			return error_set(error, "a transaction is longer than %zu bytes of SQL",
					 database->buffer_size);
		end = append_operation(end, database->pieces[operation->kind], operation);
	}
	if (transaction->count > 1)
		end = append(end, commit, strlen(commit));
	*end = '\0';
	database->text = database->buffer;
	database->length = (size_t)(end - database->buffer);
	*rendered = (struct rendered){database->text, database->length};
	return true;
}

/* Makes the text of an operation with ?1 for the key and ?2 for the value. */
static void parameters(char *text, const char *table_text)
{
	for (; *table_text != '\0'; table_text++)
		if (*table_text != '%') {
			*text++ = *table_text;
		} else {
			*text++ = '?';
			*text++ = *++table_text == 'k' ? '1' : '2';
		}
	*text = '\0';
}

bool sqlite_load(struct database *database, const struct transaction *transaction,
		 struct error *error)
{
	const struct operation *row = transaction->operations;

	if (row->kind == OPERATION_SQL)
		return sql_run(database->db, row->data, error);
	if (database->insert == NULL) {
		char text[TEXT_AROUND_VALUE];

		parameters(text, database->workload->table->operations[OPERATION_INSERT]);
		database->insert = sql_prepare(database->db, text, error);
		if (database->insert == NULL)
			return false;
	}
	/* A text without the key ignores it. */
	sqlite3_bind_int64(database->insert, 1, row->key);
	sqlite3_bind_text(database->insert, 2, row->data, (int)row->size, SQLITE_STATIC);
	if (sqlite3_step(database->insert) != SQLITE_DONE)
		return sql_error(database->db, "step", sqlite3_sql(database->insert), error);
	sqlite3_reset(database->insert);
	return true;
}
