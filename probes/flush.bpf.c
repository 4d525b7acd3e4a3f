// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush.bpf.c - when does a filesystem order the device's cache to be flushed, by itself?
 *
 * blkdev_issue_flush: a `flush` record when it returns.
 *
 * A filesystem does it in an fsync that has nothing else to write (docs/ledger.md); where a flush
 * goes with a write of the journal's, it is among the block commands and there is no record here.
 * With nobarrier there are none.
 */
#include "probe.h"

static struct begun flushes[THREADS];

SEC("fentry/blkdev_issue_flush")
int flush_begin(void *ctx)
{
	struct task_struct *task = current();
	begin(OF(flushes, task), task);
	return 0;
}

SEC("fexit/blkdev_issue_flush")
int BPF_PROG(flush_end, struct block_device *bdev)
{
	struct task_struct *task = current();
	return emit_ended(OF(flushes, task), task,
			  (struct record){
				  .type = RECORD_FLUSH,
				  .dev = bdev->bd_dev,
			  });
}
