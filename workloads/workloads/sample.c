/* The table sample(id, value) of the workloads apsys17, kv and null, each value one letter
 * repeated: the SQL of each operation, and inserts of its rows. */
#include "sample.h"

#include <string.h>

static const char *const create[] = {
	"CREATE TABLE sample(id INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL)", NULL};
static const char *const names[] = {"sample", NULL};

const struct table sample_table = {
	.create = create,
	.names = names,
	.scan = "SELECT id, value FROM sample",
	.value_column = 1,
	.last_key = "SELECT max(id) FROM sample",
	.operations =
		{
			[OPERATION_INSERT] = "INSERT INTO sample(value) VALUES(%v);",
			[OPERATION_UPDATE] = "UPDATE sample SET value=%v WHERE id=%k;",
			[OPERATION_DELETE] = "DELETE FROM sample WHERE id=%k;",
			[OPERATION_READ] = "SELECT value FROM sample WHERE id=%k;",
			[OPERATION_SCAN] =
				"SELECT value FROM sample WHERE id>=%k ORDER BY id LIMIT %n;",
			[OPERATION_READ_MODIFY_WRITE] =
				"SELECT value FROM sample WHERE id=%k;UPDATE sample SET value=%v "
				"WHERE id=%k;",
		},
};

size_t sample_buffer_size(const struct options *options)
{
	return (size_t)options->value_size;
}

const char *sample_value(struct generator *generator, char letter)
{
	if (generator->number == 0)
		memset(generator->buffer, letter, (size_t)generator->options->value_size);
	return generator->buffer;
}

void sample_insert(struct generator *generator, struct transaction *transaction)
{
	transaction_of_key(generator, transaction, OPERATION_INSERT,
			   generator->last_key + 1 + generator->number,
			   sample_value(generator, 'i'), (size_t)generator->options->value_size);
}
