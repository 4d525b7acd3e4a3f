/* Keeps the engine's file calls (open, write, sync, …) in memory during the measurement, and writes
 * them to vfs.csv afterwards. */
#include "file_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void file_calls_add(const struct file_call *call)
{
	if (last->count == block_size && !add_block())
		lost++;
	else
		last->calls[last->count++] = *call;
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
	putc('\n', file);
}

void file_calls_write(const char *directory, bool several)
{
	int64_t number = 0;
	FILE *file;

	if (lost > 0)
		fail("no memory for a log of %zu more calls", lost);
	file = output_open(directory, "vfs.csv");
	fputs("call,op,file,begin_ns,end_ns,inode,offset,bytes,page,result", file);
	fputs(several ? ",database\n" : "\n", file);
	for (const struct block *block = first; block != NULL; block = block->next)
		for (size_t i = 0; i < block->count; i++)
			write_call(file, number++, &block->calls[i], several);
	output_commit(file);
}
