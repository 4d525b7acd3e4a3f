#include "vfs_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "output.h"
#include "ticks.h"

static const char *const op_names[] = {
	[VFS_OPEN] = "open",	   [VFS_CLOSE] = "close",	[VFS_WRITE] = "write",
	[VFS_SYNC] = "sync",	   [VFS_TRUNCATE] = "truncate", [VFS_DELETE] = "delete",
	[VFS_SHM_MAP] = "shm_map",
};

static const char *const file_names[] = {
	[VFS_DATABASE] = "database", [VFS_JOURNAL] = "journal", [VFS_WAL] = "wal",
	[VFS_SHM] = "shm",	     [VFS_OTHER] = "other",
};

/* Blocks, so that growing copies nothing. */
struct block {
	struct block *next;
	size_t count;
	struct vfs_call calls[];
};

static struct block *first, *last;
static size_t block_size; /* calls */

static void add_block(void)
{
	size_t bytes = sizeof(struct block) + block_size * sizeof(struct vfs_call);
	struct block *block = malloc(bytes);

	if (block == NULL)
		fail("no memory for a log of %zu more VFS calls", block_size);
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
}

void vfs_calls_open(size_t capacity)
{
	block_size = capacity;
	add_block();
}

struct vfs_call *vfs_calls_next(void)
{
	if (last->count == block_size)
		add_block();
	return &last->calls[last->count++];
}

static void write_number(FILE *file, int64_t number)
{
	putc(',', file);
	if (number != VFS_NOTHING)
		output_number(file, number);
}

static void write_name(FILE *file, const char *name)
{
	putc(',', file);
	fputs(name, file);
}

void vfs_calls_write(const char *directory)
{
	FILE *file = output_open(directory, "vfs.csv");
	int64_t number = 0;

	fputs("call,op,file,begin_ns,end_ns,inode,offset,bytes\n", file);
	for (const struct block *block = first; block != NULL; block = block->next)
		for (const struct vfs_call *c = block->calls; c < block->calls + block->count;
		     c++) {
			output_number(file, number++);
			write_name(file, op_names[c->op]);
			write_name(file, file_names[c->file]);
			write_number(file, (int64_t)ticks_to_ns(c->begin));
			write_number(file, (int64_t)ticks_to_ns(c->end));
			write_number(file, (int64_t)c->inode);
			write_number(file, c->offset);
			write_number(file, c->bytes);
			putc('\n', file);
		}
	output_commit(file);
}

void vfs_calls_close(void)
{
	while (first != NULL) {
		struct block *next = first->next;

		free(first);
		first = next;
	}
	last = NULL;
}
