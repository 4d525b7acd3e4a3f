// SPDX-License-Identifier: GPL-2.0-only
/*
 * writeback.bpf.c - record background write-back by the kernel's flusher threads, with its reason.
 *
 * writeback_start, writeback_written: a `writeback` record at the end of a round of a flusher
 * thread on a device.
 *
 * dev is the disk. `pages` were passed to the filesystem in that round; not all have reached the
 * device at its end; 0: only inodes, or nothing. Pages written by an fsync are not included.
 */
#include "probe.h"

static struct round {
	struct begun begun;
	long pages;
} rounds[THREADS];

SEC("tp_btf/writeback_start")
int BPF_PROG(round_begin, struct bdi_writeback *wb, struct wb_writeback_work *work)
{
	struct task_struct *task = current();
	struct round *round = OF(rounds, task);
	begin(&round->begun, task);
	round->pages = work->nr_pages;
	return 0;
}

SEC("tp_btf/writeback_written")
int BPF_PROG(round_end, struct bdi_writeback *wb, struct wb_writeback_work *work)
{
	struct task_struct *task = current();
	struct round *round = OF(rounds, task);
	__u64 begin_ns = end(&round->begun, task);
	if (!begin_ns)
		return 0;
	__u64 now = clock_ns();
	name_thread(task, now);
	emit((struct record){
		.type = RECORD_WRITEBACK,
		.begin_ns = begin_ns,
		.end_ns = now,
		.flags = work->reason,
		.tid = task->pid,
		.dev = wb->bdi->owner->devt,
		.n = round->pages - work->nr_pages,
	});
	return 0;
}
