/* The workload mix: operations in one phase, of kinds in the shares of --mix, on records of a key
 * and a value. Which record a request is for, the order of the keys, the sizes of values and the
 * operations of a transaction are options. YCSB's core workloads are such mixes
 * (experiments/workload/ycsb-*.yml).
 *
 * A transaction has --batch operations of one kind. A request may be for a record that was deleted:
 * a read of it returns nothing. */
#include <string.h>

#include "distribution.h"
#include "fail.h"
#include "records.h"
#include "workload.h"

static const struct workload_phase phases[] = {{.name = "mix"}};

/* Digits that a value begins with; sizes from which Zipf's law counts; rows of a scan, as YCSB's
 * workload E has them. */
enum { DIGITS = 8, LEAST_SIZE = 64, MOST_SCANNED = 100 };

static const char *const create[] = {
	"CREATE TABLE records(id INTEGER PRIMARY KEY, value TEXT NOT NULL)", NULL};
static const char *const names[] = {"records", NULL};

const struct table records_table = {
	.create = create,
	.names = names,
	.scan = "SELECT id, value FROM records",
	.value_column = 1,
	.last_key = "SELECT max(id) FROM records",
	.operations =
		{
			[OPERATION_INSERT] = "INSERT INTO records(id,value) VALUES(%k,%v);",
			[OPERATION_UPDATE] = "UPDATE records SET value=%v WHERE id=%k;",
			[OPERATION_DELETE] = "DELETE FROM records WHERE id=%k;",
			[OPERATION_READ] = "SELECT value FROM records WHERE id=%k;",
			[OPERATION_SCAN] =
				"SELECT value FROM records WHERE id>=%k ORDER BY id LIMIT %n;",
			[OPERATION_READ_MODIFY_WRITE] = "SELECT value FROM records WHERE id=%k;"
							"UPDATE records SET value=%v WHERE id=%k;",
		},
};

/* Per cent of the transactions, by kind. */
static uint64_t shares[KEY_OPERATIONS];

static enum operation_kind find_kind(const char *word, size_t length)
{
	enum operation_kind kind = operation_of_word(word, length);

	if (kind >= KEY_OPERATIONS)
		fail_usage("--mix: '%.*s' is not an operation with a key (operations.yml)",
			   (int)length, word);
	return kind;
}

/* Reads shares from a text such as read=95,insert=5. */
static void check(const struct options *options, size_t first_phase)
{
	uint64_t sum = 0;

	memset(shares, 0, sizeof(shares));
	for (const char *text = options->mix; *text != '\0'; text += *text == ',') {
		size_t length = strcspn(text, "=,");
		uint64_t *share = &shares[find_kind(text, length)];

		if (*share > 0)
			fail_usage("--mix: %.*s is given twice", (int)length, text);
		text += length + (text[length] == '=');
		for (; *text >= '0' && *text <= '9' && *share <= 100; text++)
			*share = *share * 10 + (uint64_t)(*text - '0');
		if (*share < 1 || *share > 100 || (*text != ',' && *text != '\0'))
			fail_usage("--mix: a share is a whole number from 1 to 100, as in "
				   "read=95,insert=5");
		sum += *share;
	}
	if (sum != 100)
		fail_usage("--mix: the shares add up to %d per cent, not to 100", (int)sum);
	if (shares[OPERATION_READ_MODIFY_WRITE] > 0 && options->batch > 1)
		fail_usage("--batch: a read-modify-write is a transaction of its own, as a batch "
			   "of keys and values does not read what it writes");
}

static enum operation_kind pick_kind(struct generator *generator)
{
	uint64_t point = prng_below(&generator->prng, 100);
	size_t kind = 0;

	for (; point >= shares[kind]; kind++)
		point -= shares[kind];
	return (enum operation_kind)kind;
}

/* Keys are from 0 on and fit 63 bits. Hashed ones are a permutation of them: no two are equal. */
static int64_t key_of(const struct generator *generator, uint64_t record)
{
	uint64_t key = record + 1;

	if (generator->options->insert_order == HASHED)
		do
			key = prng_mix(key);
		while (key > INT64_MAX);
	return (int64_t)key;
}

static size_t pick_size(struct generator *generator)
{
	uint64_t most = (uint64_t)generator->options->value_size;

	if (generator->options->value_size_distribution != ZIPFIAN_SIZES || most <= LEAST_SIZE)
		return most;
	return LEAST_SIZE - 1 +
	       zipf_draw(&generator->sizes, &generator->prng, most - LEAST_SIZE + 1);
}

static size_t buffer_size(const struct options *options)
{
	return options->value_size > DIGITS ? (size_t)options->value_size : DIGITS;
}

/* The values of a transaction begin with its number, so that an update changes something. */
static void write_value(struct generator *generator, char letter)
{
	int64_t number = generator->number;

	if (number == 0)
		memset(generator->buffer, letter, buffer_size(generator->options));
	for (size_t i = DIGITS; i-- > 0; number /= 10)
		generator->buffer[i] = (char)('0' + number % 10);
}

static void fill(struct generator *generator, struct transaction *transaction)
{
	write_value(generator, 'i');
	transaction_of_key(generator, transaction, OPERATION_INSERT,
			   key_of(generator, (uint64_t)generator->number), generator->buffer,
			   pick_size(generator));
}

static struct operation make(struct generator *generator, enum operation_kind kind, int64_t number)
{
	const struct options *options = generator->options;
	struct records records = {(uint64_t)options->rows,
				  (uint64_t)(options->rows + generator->inserted)};
	struct operation operation = {.kind = kind};

	operation.key = key_of(
		generator,
		kind == OPERATION_INSERT
			? (uint64_t)(options->rows + generator->inserted++)
			: distribution_draw(
				  (enum request_distribution)options->request_distribution,
				  &generator->ranks, &generator->prng, records, (uint64_t)number));
	if (kind == OPERATION_SCAN) {
		operation.rows = 1 + (int64_t)prng_below(&generator->prng, MOST_SCANNED);
	} else if (kind != OPERATION_DELETE && operation_traits[kind].mutates) {
		operation.data = generator->buffer;
		operation.size = pick_size(generator);
	}
	return operation;
}

static void next(struct generator *generator, struct transaction *transaction)
{
	enum operation_kind kind = pick_kind(generator);
	size_t count = (size_t)generator->options->batch, bytes = 0;

	write_value(generator, 'w');
	for (size_t i = 0; i < count; i++) {
		struct operation *operation = &generator->operations[i];

		*operation = make(generator, kind, generator->number * (int64_t)count + (int64_t)i);
		bytes += operation->size;
	}
	*transaction = (struct transaction){kind, generator->operations, count, bytes, 0};
}

static const struct workload mix = {
	.name = "mix",
	.summary = "n transactions of kinds in shares of --mix, on records by a distribution",
	.phases = phases,
	.phase_count = 1,
	.table = &records_table,
	.mixes = true,
	.check = check,
	.buffer_size = buffer_size,
	.fill = fill,
	.next = next,
};
WORKLOAD_REGISTER(mix)
