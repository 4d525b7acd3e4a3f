/* The workload partsupply: n inserts into TPC-H's partsupp, n updates of one random row, and n
 * transactions that update 2000 random rows, as Park, Oh and Lee (SQL Statement Logging for Making
 * SQLite Truly Lite, PVLDB 11(4), 2017) have them. Theirs are 10 000 updates (Random-A) and five
 * such transactions (Random-B), on 60 000 rows of 220 bytes. The table's key, the updated column
 * and the numbers were not published. Here the key is an integer, a row's record has 220 bytes with
 * a comment of 198, dbgen's longest (8 of header, 2 each of three numbers, 8 of a real), and the
 * comment is updated. In a table of fewer than 2000 rows a batch has all of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "workload.h"

enum { INSERT, UPDATE, BATCH };

static const struct workload_phase phases[] = {
	[INSERT] = {.name = "insert"},
	[UPDATE] = {.name = "update"},
	[BATCH] = {.name = "batch"},
};

/* N has at most eight digits. */
enum { BATCH_SIZE = 2000, COMMENT = 198, DIGITS = 8 };

static const char *const create[] = {
	"CREATE TABLE partsupply(ps_key INTEGER PRIMARY KEY, ps_partkey INT, ps_suppkey INT, "
	"ps_availqty INT, ps_supplycost REAL, ps_comment TEXT NOT NULL)",
	NULL};
static const char *const names[] = {"partsupply", NULL};

static const struct table table = {
	.create = create,
	.names = names,
	.scan = "SELECT ps_key, ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment "
		"FROM partsupply",
	.value_column = 5,
	.last_key = "SELECT max(ps_key) FROM partsupply",
	.operations =
		{
			[OPERATION_INSERT] =
				"INSERT INTO partsupply VALUES(%k,15000,1000,9999,771.64,%v);",
			[OPERATION_UPDATE] = "UPDATE partsupply SET ps_comment=%v WHERE ps_key=%k;",
			[OPERATION_DELETE] = "DELETE FROM partsupply WHERE ps_key=%k;",
			[OPERATION_READ] = "SELECT ps_comment FROM partsupply WHERE ps_key=%k;",
		},
};

static void check(const struct options *options, size_t first_phase)
{
	if (first_phase != INSERT && options->rows == 0)
		fail_usage("--rows: %s of partsupply needs rows", phases[first_phase].name);
}

/* A value, and behind it a bit for each row: whether it is in the batch. */
static size_t buffer_size(const struct options *options)
{
	return COMMENT + (size_t)(options->rows + options->n) / 8 + 1;
}

/* Returns another value for each transaction: an update to the same value would write nothing. */
static const char *value(struct generator *generator, char letter)
{
	char digits[24];

	if (generator->number == 0)
		memset(generator->buffer, letter, COMMENT);
	snprintf(digits, sizeof(digits), "%0*" PRId64, DIGITS, generator->number);
	memcpy(generator->buffer, digits, DIGITS);
	return generator->buffer;
}

static int64_t pick(struct generator *generator)
{
	return 1 + (int64_t)prng_below(&generator->prng, (uint64_t)generator->last_key);
}

static void make_batch(struct generator *generator, struct transaction *transaction)
{
	char *taken = generator->buffer + COMMENT;
	size_t count = generator->last_key < BATCH_SIZE ? (size_t)generator->last_key : BATCH_SIZE;
	const char *data = value(generator, 'b');

	memset(taken, 0, (size_t)generator->last_key / 8 + 1);
	for (size_t i = 0; i < count; i++) {
		int64_t key;

		do
			key = pick(generator);
		while ((taken[key / 8] & 1 << key % 8) != 0);
		taken[key / 8] |= (char)(1 << key % 8);
		generator->operations[i] =
			(struct operation){OPERATION_UPDATE, key, data, COMMENT, 0, 0};
	}
	transaction_of_batch(generator, transaction, count, count * COMMENT);
}

static void insert(struct generator *generator, struct transaction *transaction)
{
	transaction_of_key(generator, transaction, OPERATION_INSERT,
			   generator->last_key + 1 + generator->number, value(generator, 'i'),
			   COMMENT);
}

static void next(struct generator *generator, struct transaction *transaction)
{
	if (generator->phase == INSERT)
		insert(generator, transaction);
	else if (generator->phase == BATCH)
		make_batch(generator, transaction);
	else
		transaction_of_key(generator, transaction, OPERATION_UPDATE, pick(generator),
				   value(generator, 'u'), COMMENT);
}

static const struct workload partsupply = {
	.name = "partsupply",
	.summary = "n inserts, n updates of one row and n of 2000, picked uniformly, of partsupp",
	.phases = phases,
	.phase_count = sizeof(phases) / sizeof(phases[0]),
	.table = &table,
	.value_size = COMMENT,
	.batch = BATCH_SIZE,
	.asks_last_key = true,
	.check = check,
	.buffer_size = buffer_size,
	.fill = insert,
	.next = next,
};
WORKLOAD_REGISTER(partsupply)
