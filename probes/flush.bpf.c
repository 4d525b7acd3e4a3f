// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush.bpf.c - record the cache flushes that a filesystem issues by itself.
 *
 * blkdev_issue_flush: a `flush` record when it returns.
 *
 * A filesystem issues one in an fsync that has nothing else to write (docs/reference/ledger.md). A
 * flush that is part of a journal write is among the block commands, not here. None with nobarrier.
 */
#include "probe.h"

static struct begun flushes[THREADS];

SEC(ENTRY "blkdev_issue_flush")
int flush_begin(void *ctx)
{
	struct task_struct *task = current();
	begin_call(OF(flushes, task), task, ctx);
	return 0;
}

SEC(RETURN "blkdev_issue_flush")
int flush_end(void *ctx)
{
	struct task_struct *task = current();
	struct begun *flush = OF(flushes, task);
	struct block_device *device = (void *)ARGUMENT(flush, ctx, 0);
	return emit_ended(flush, task,
			  (struct record){
				  .type = RECORD_FLUSH,
				  .dev = GET(device, bd_dev),
			  });
}
