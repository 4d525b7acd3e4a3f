/*
 * flush.bpf.c - when does a filesystem order the device's cache to be flushed, by itself?
 *
 * blkdev_issue_flush: a `flush` record when it returns.
 *
 * F2FS does it in each fsync (f2fs_issue_flush, submit_flush_wait, then this function; where it
 * merges several, the thread is f2fs_flush-<dev>). ext4 does it in an fsync that needs no
 * journal commit; else the flush goes with the commit block, so there is a flush among the
 * block commands and no record here. The same holds for an F2FS checkpoint. With nobarrier
 * there are none.
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
	__u64 begin_ns = end(OF(flushes, task), task);
	if (!begin_ns)
		return 0;
	emit((struct record){
		.type = RECORD_FLUSH,
		.begin_ns = begin_ns,
		.end_ns = bpf_ktime_get_ns(),
		.tid = task->pid,
		.dev = bdev->bd_dev,
	});
	return 0;
}
