/* The workload requests, a user's trace of operations with keys from --file, for any engine:
 * `populate` inserts the rows of its file, and `run` executes each transaction of its file once, in
 * order. `populate` is given a file of inserts of one row each, of which --rows are made, and `run`
 * one of --n transactions. A transaction in a file is a line with the number of its operations, and
 * a line for each: kind, key, bytes of the value, and behind the line the value and a newline. Of a
 * scan the number is that of its rows, and it has no value. The host writes and checks these files
 * (model/workloads/requests.py). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "records.h"
#include "user_file.h"
#include "workload.h"

static char *all; /* the file's content */
static struct transaction *transactions;
static struct operation *operations;
static size_t transaction_count, operation_count;

static const struct workload_phase phases[] = {{.name = "requests"}};
static struct workload requests;

_Noreturn static void fail_here(const struct options *options, const char *what)
{
	fail("%s: transaction %zu, operation %zu of all: %s", options->file, transaction_count,
	     operation_count, what);
}

/* Reads an operation; returns what follows it. */
static char *cut(const struct options *options, char *next, const char *end,
		 struct operation *operation)
{
	size_t length = strcspn(next, " \n");
	int64_t number;

	operation->kind = operation_of_word(next, length);
	if (operation->kind >= KEY_OPERATIONS)
		fail_here(options, "its kind is not an operation with a key (operations.yml)");
	operation->key = strtoll(next + length, &next, 10);
	number = strtoll(next, &next, 10);
	if (*next++ != '\n' || operation->key < 0 || number < 0)
		fail_here(options, "it is not a kind, a key and a number");
	if (operation->kind == OPERATION_SCAN) {
		operation->rows = number;
		return next;
	}
	if (number > options->value_size || number >= end - next || next[number] != '\n')
		fail_here(options, "its value is longer than --value-size, or than the file");
	operation->data = number > 0 ? next : NULL;
	operation->size = (size_t)number;
	return next + number + 1;
}

static void open_file(const struct options *options)
{
	size_t size, lines = 0;
	char *next = all = user_file_read(options, &size);
	const char *end = next + size;

	for (const char *c = next; c < end; c++)
		lines += *c == '\n';
	transactions = user_file_allocate(options, lines, sizeof(*transactions));
	operations = user_file_allocate(options, lines, sizeof(*operations));
	requests.batch = 1;
	while (next < end) {
		struct transaction *transaction = &transactions[transaction_count];
		size_t count = strtoull(next, &next, 10);

		if (*next++ != '\n' || count < 1 || count > lines - operation_count)
			fail_here(options, "no number of operations before it");
		transaction->operations = &operations[operation_count];
		transaction->count = count;
		for (size_t i = 0; i < count; i++, operation_count++) {
			next = cut(options, next, end, &operations[operation_count]);
			transaction->value_bytes += operations[operation_count].size;
		}
		transaction->kind = transaction->operations->kind;
		if (count > requests.batch)
			requests.batch = count;
		transaction_count++;
	}
}

static void check(const struct options *options, size_t first_phase)
{
	if ((size_t)options->n != transaction_count)
		fail_usage("--n: %s has %zu transactions, not %" PRId64, options->file,
			   transaction_count, options->n);
}

static void fill(struct generator *generator, struct transaction *transaction)
{
	if ((size_t)generator->number >= transaction_count)
		fail("%s: it has %zu rows, --rows is %" PRId64, generator->options->file,
		     transaction_count, generator->options->rows);
	*transaction = transactions[generator->number];
}

static void next(struct generator *generator, struct transaction *transaction)
{
	*transaction = transactions[generator->number];
}

static struct workload requests = {
	.name = "requests",
	.summary = "operations with keys that --file has, each once",
	.phases = phases,
	.phase_count = 1,
	.table = &records_table,
	.any_size = true,
	.open = open_file,
	.check = check,
	.fill = fill,
	.next = next,
};
WORKLOAD_REGISTER(requests)
