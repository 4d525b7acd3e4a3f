/* Records begin, end and outcome of each transaction in a mapped file, which survives a kill, and
 * times and CPU use of each phase, while the run is measured; writes transactions.csv and
 * phases.csv afterwards. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device_stat.h"
#include "fail.h"
#include "marks.h"
#include "output.h"

_Static_assert(MAX_PHASES + 2 == STAT_SNAPSHOTS, "a snapshot of the device for each phase");

/* The first bytes of acknowledged.bin; the last of them is the version of the format. */
static const char magic[8] = "CPACKED\1";

struct record_file {
	char magic[sizeof(magic)];
	uint64_t capacity;
	struct transaction_record transactions[];
};

void record_open(struct record *record, const char *directory, size_t capacity)
{
	char path[PATH_MAX];
	size_t bytes = sizeof(struct record_file) + capacity * sizeof(struct transaction_record);
	struct record_file *file = NULL;
	int fd, error;

	memset(record, 0, sizeof(*record));
	output_path(path, directory, RECORD_FILE);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		fail("writing %s: %s", path, strerror(errno));
	error = posix_fallocate(fd, 0, (off_t)bytes);
	if (error == 0) {
		file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		error = file == MAP_FAILED ? errno : 0;
	}
	close(fd);
	if (error != 0) {
		unlink(path);
		fail("no room for %zu transactions in %s: %s", capacity, path, strerror(error));
	}
	memset(file, 0, bytes);
	memcpy(file->magic, magic, sizeof(magic));
	file->capacity = capacity;
	record->transactions = file->transactions;
}

static struct usage usage_now(void)
{
	struct rusage thread;

	if (getrusage(RUSAGE_THREAD, &thread) != 0)
		fail("reading the thread's context switches: %s", strerror(errno));
	return (struct usage){clock_read(CLOCK_THREAD_CPUTIME_ID), thread.ru_nvcsw,
			      thread.ru_nivcsw};
}

void record_phase_begin(struct record *record, const char *name)
{
	struct phase *phase = &record->phases[record->phase_count];

	if (record->phase_count == MAX_PHASES)
		fail("more than %d phases", MAX_PHASES);
	record->phase_count++;
	phase->name = name;
	/* Outside the phase, as at its end: reading it takes a thousand instructions. */
	phase->usage = usage_now();
	commitpath_phase(name);
	phase->begin_ns = clock_now();
}

void record_phase_end(struct record *record, uint64_t transactions)
{
	struct phase *phase = &record->phases[record->phase_count - 1];
	struct usage now;

	phase->end_ns = clock_now();
	now = usage_now();
	phase->usage.cpu_ns = now.cpu_ns - phase->usage.cpu_ns;
	phase->usage.waited = now.waited - phase->usage.waited;
	phase->usage.preempted = now.preempted - phase->usage.preempted;
	phase->transactions = transactions;
}

const char *transaction_op(const struct workload *workload, size_t phase, enum operation_kind kind)
{
	return workload->phases[phase].is_group ? workload->phases[phase].name
						: operation_traits[kind].word;
}

static void write_transactions(const struct record *record, const struct workload *workload,
			       FILE *file)
{
	fputs("transaction,phase,op,begin_ns,end_ns,changes,rows,bytes\n", file);
	for (size_t i = 0; i < record->transaction_count; i++) {
		const struct transaction_record *t = &record->transactions[i];

		fprintf(file, "%zu,%s,%s,%" PRIu64 ",%" PRIu64 ",", i,
			workload->phases[t->phase].name,
			transaction_op(workload, t->phase, (enum operation_kind)t->kind),
			t->begin_ns, t->end_ns);
		if (t->changes != CHANGES_UNKNOWN)
			fprintf(file, "%" PRId32, t->changes);
		fprintf(file, ",%" PRId32 ",%" PRId64 "\n", t->rows, t->bytes);
	}
}

void record_write(const struct record *record, const struct workload *workload,
		  const char *directory)
{
	FILE *file = output_open(directory, "transactions.csv");

	write_transactions(record, workload, file);
	output_commit(file);

	file = output_open(directory, "phases.csv");
	fputs("phase,begin_ns,end_ns,transactions,cpu_ns,waited,preempted\n", file);
	for (const struct phase *p = record->phases; p < record->phases + record->phase_count; p++)
		fprintf(file,
			"%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64
			"\n",
			p->name, p->begin_ns, p->end_ns, p->transactions, p->usage.cpu_ns,
			p->usage.waited, p->usage.preempted);
	output_commit(file);
}

void record_close(const char *directory)
{
	char path[PATH_MAX];

	output_path(path, directory, RECORD_FILE);
	if (unlink(path) != 0)
		fail("removing %s: %s", path, strerror(errno));
}
