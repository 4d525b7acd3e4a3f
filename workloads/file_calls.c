/* The engine's file calls, kept in memory during the measurement and written to vfs.csv
 * afterwards. */
#define _GNU_SOURCE /* gettid */
#include "file_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "fail.h"
#include "output.h"
#include "ticks.h"

static const char *const op_names[] = {
	[FILE_OPEN] = "open",	    [FILE_CLOSE] = "close",	  [FILE_WRITE] = "write",
	[FILE_SYNC] = "sync",	    [FILE_TRUNCATE] = "truncate", [FILE_DELETE] = "delete",
	[FILE_SHM_MAP] = "shm_map", [FILE_KEEP] = "keep",	  [FILE_COPY] = "copy",
	[FILE_MSYNC] = "msync",	    [FILE_CLEAN] = "clean",
};

/* Blocks, so that growing copies nothing. */
struct block {
	struct block *next;
	size_t count;
	struct file_call calls[];
};

static struct block *first, *last;
static size_t block_size; /* calls */
static size_t lost;

static bool add_block(void)
{
	size_t bytes = sizeof(struct block) + block_size * sizeof(struct file_call);
	struct block *block = malloc(bytes);

	if (block == NULL)
		return false;
	/* Any value but zero: writing zeroes may be optimised into calloc,
	 * whose pages are not there yet. */
	memset(block, 0xff, bytes);
	block->next = NULL;
	block->count = 0;
	if (last == NULL)
		first = block;
	else
		last->next = block;
	last = block;
	return true;
}

bool file_calls_open(size_t capacity, struct error *error)
{
	block_size = capacity;
	return add_block() || error_set(error, "no memory for a log of %zu calls", capacity);
}

static void add(const struct file_call *call)
{
	if (last->count == block_size && !add_block())
		lost++;
	else
		last->calls[last->count++] = *call;
}

void file_calls_add(const struct file_call *call)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static _Thread_local int thread; /* to ask the kernel each time takes too long */
	struct file_call noted = *call;

	/* The others have one thread: they pay for no lock. */
	if (!engine.threads) {
		add(call);
		return;
	}
	if (thread == 0)
		thread = gettid();
	noted.thread = thread == getpid() ? 0 : thread;
	pthread_mutex_lock(&lock);
	add(&noted);
	pthread_mutex_unlock(&lock);
}

static int by_begin(const void *left, const void *right)
{
	const struct file_call *const *a = left, *const *b = right;

	return ((*a)->begin > (*b)->begin) - ((*a)->begin < (*b)->begin);
}

static void write_number(FILE *file, int64_t number)
{
	putc(',', file);
	if (number != FILE_NOTHING)
		output_number(file, number);
}

static void write_name(FILE *file, const char *name)
{
	putc(',', file);
	fputs(name, file);
}

static void write_call(FILE *file, int64_t number, const struct file_call *call, bool several)
{
	output_number(file, number);
	write_name(file, op_names[call->op]);
	write_name(file, engine.file_roles[call->role]);
	write_number(file, (int64_t)ticks_to_ns(call->begin));
	write_number(file, (int64_t)ticks_to_ns(call->end));
	write_number(file, (int64_t)call->inode);
	write_number(file, call->offset);
	write_number(file, call->bytes);
	write_number(file, call->page);
	putc(',', file);
	output_number(file, call->result);
	if (several)
		write_number(file, call->database == 0 ? FILE_NOTHING : call->database);
	if (engine.threads)
		write_number(file, call->thread);
	putc('\n', file);
}

/* All calls, in their order: of one thread's that of their ends, which is that of their begins. */
static const struct file_call **in_order(size_t *count)
{
	const struct file_call **calls;
	size_t next = 0;

	*count = 0;
	for (const struct block *block = first; block != NULL; block = block->next)
		*count += block->count;
	calls = calloc(*count + 1, sizeof(const struct file_call *));
	if (calls == NULL)
		fail("no memory to write %zu calls", *count);
	for (const struct block *block = first; block != NULL; block = block->next)
		for (size_t i = 0; i < block->count; i++)
			calls[next++] = &block->calls[i];
	if (engine.threads)
		qsort(calls, *count, sizeof(const struct file_call *), by_begin);
	return calls;
}

void file_calls_write(const char *directory, bool several)
{
	const struct file_call **calls;
	size_t count;
	FILE *file;

	if (lost > 0)
		fail("no memory for a log of %zu more calls", lost);
	calls = in_order(&count);
	file = output_open(directory, "vfs.csv");
	fputs("call,op,file,begin_ns,end_ns,inode,offset,bytes,page,result", file);
	fputs(several ? ",database" : "", file);
	fputs(engine.threads ? ",thread\n" : "\n", file);
	for (size_t i = 0; i < count; i++)
		write_call(file, (int64_t)i, calls[i], several);
	output_commit(file);
	free(calls);
}
