/* Makes the shared-memory log that an engine's preload fills with a command's transactions
 * (transactions.h), and writes transactions.csv from it when the command has ended. */
#define _GNU_SOURCE /* what the parts' headers need */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "output.h"
#include "transactions.h"

static const char name[] = "transactions.log";

struct transaction_log *log_create(const char *directory)
{
	char path[PATH_MAX];
	struct transaction_log *log = MAP_FAILED;
	int file;

	output_path(path, directory, name);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file >= 0 && fchmod(file, 0666) == 0 && ftruncate(file, TRANSACTIONS_BYTES) == 0)
		log = mmap(NULL, TRANSACTIONS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (log == MAP_FAILED || setenv(TRANSACTIONS_VARIABLE, path, 1) != 0)
		fail("%s: %s", path, strerror(errno));
	close(file);
	memcpy(log->magic, TRANSACTIONS_MAGIC, sizeof(log->magic));
	log->pid_namespace = namespace_of_pids();
	if (log->pid_namespace == 0)
		fail("/proc/self/ns/pid: %s", strerror(errno));
	return log;
}

static uint64_t kept(const struct transaction_log *log)
{
	return log->next < TRANSACTIONS_MOST ? log->next : TRANSACTIONS_MOST;
}

uint64_t log_count(const struct transaction_log *log)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < kept(log); i++)
		count += log->transactions[i].whole;
	return count;
}

static int by_begin(const void *one, const void *other)
{
	const struct transaction *a = *(const struct transaction *const *)one;
	const struct transaction *b = *(const struct transaction *const *)other;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* For the longest path, with each byte escaped. */
#define ESCAPED_MOST (4 * PATH_MAX)

/* Escapes a path for a CSV column: \xHH for a byte that is not printable ASCII or ends the column.
 */
static void escape(char escaped[ESCAPED_MOST], const char *path)
{
	size_t at = 0;

	escaped[0] = '\0';
	for (const char *c = path; *c != '\0' && at + 4 < ESCAPED_MOST; c++)
		if (*c <= ' ' || *c > '~' || strchr(",\"\\", *c))
			at += (size_t)snprintf(escaped + at, 5, "\\x%02x", (unsigned char)*c);
		else
			at += (size_t)snprintf(escaped + at, 2, "%c", *c);
}

void log_attached(const struct transaction_log *log, struct json *json, const char *key)
{
	char escaped[ESCAPED_MOST];

	json_begin(json, key, '[');
	for (uint64_t i = 0; i < log->next_path && i < PATHS_MOST; i++)
		if (log->paths[i].whole && log->paths[i].attached) {
			escape(escaped, log->paths[i].text);
			json_text(json, NULL, escaped);
		}
	json_end(json, ']');
}

void log_write(const char *directory, const struct transaction_log *log)
{
	uint64_t count = log_count(log), place = 0;
	const struct transaction **order = malloc((count + 1) * sizeof(*order));
	char path[PATH_MAX], escaped[ESCAPED_MOST];
	FILE *file;

	if (order == NULL)
		fail("no memory for %" PRIu64 " transactions", count);
	for (uint64_t i = 0; i < kept(log); i++)
		if (log->transactions[i].whole)
			order[place++] = &log->transactions[i];
	qsort(order, count, sizeof(*order), by_begin);
	file = output_open(directory, "transactions.csv");
	fputs("transaction,phase,op,begin_ns,end_ns,changes,tid,pages,rolled_back,file\n", file);
	for (uint64_t i = 0; i < count; i++) {
		const struct transaction *one = order[i];

		escape(escaped, one->path < PATHS_MOST ? log->paths[one->path].text : "");
		fprintf(file, "%" PRIu64 ",command,%s,%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,%s\n", i,
			one->op, one->begin_ns, one->end_ns, one->rows, one->tid, one->pages,
			one->rolled_back, escaped);
	}
	output_commit(file);
	free(order);
	output_path(path, directory, name);
	if (unlink(path) != 0)
		fail("%s: %s", path, strerror(errno));
}
