// SPDX-License-Identifier: GPL-2.0-only
/*
 * block.bpf.c - record each command that the device completes, with its times.
 *
 * block_rq_issue, block_rq_complete: a `block` record when a command completes.
 *
 * A command is identified by its request's address. One that completes in parts is recorded at the
 * last part, with all sectors; a requeued one has the time of its last issue. For a filesystem's
 * "flush, then write with FUA" the device gets a flush (REQ_OP_FLUSH, sector and sectors 0) and a
 * write with FUA. The flush machinery then completes the filesystem's own request, which was never
 * issued or is already recorded: no record. tid is the thread that issued the command to the
 * driver: after a flush, a kworker.
 *
 * Compared with /sys/block/<dev>/stat over a window that begins and ends with an idle device:
 *   flush_ios = flush records;  write_sectors = sum of the writes' sectors;  the same for reads
 *   write_ios = writes + bios that are empty flushes (the kernel counts each as an empty write,
 *   but the device gets no command)
 */
#include "probe.h"

#define COMMANDS 32768
#define NEIGHBOURS 32

/*
 * A hash table with a few candidate places per request address; entries are never removed, as
 * requests are reused. (The kernel's hash map takes four times as many instructions.)
 */
static struct command {
	__u64 request;				  /* its address; 0: free */
	__u64 issue_ns, start_ns, serial, sector; /* issue_ns 0: not in flight */
	__u32 cmd_flags, tid, sectors;
} commands[COMMANDS];

static __u64 serial;

/* Return the place of a request, NULL if it has none; `add` makes one. */
static __always_inline struct command *place_of(struct request *rq, int add)
{
	/* the verifier permits a pointer as a number only as the difference of two */
	__u64 request = (__u64)rq - (__u64)commands;

	for (int i = 0; i < NEIGHBOURS; i++) {
		struct command *place = &commands[(request / 64 + i) & (COMMANDS - 1)];
		if (place->request == request)
			return place;
		if (place->request)
			continue;
		if (!add)
			return NULL;
		if (!__sync_val_compare_and_swap(&place->request, 0, request))
			return place;
	}
	if (add)
		__sync_fetch_and_add(&ring.updates, 1);
	return NULL;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	struct task_struct *task = current();
	struct command *command = place_of(rq, 1);
	if (!command)
		return 0;
	__u32 cmd_flags = rq->cmd_flags;
	__u64 now = clock_ns();
	command->issue_ns = now;
	command->start_ns = rq->start_time_ns;
	command->serial = __sync_fetch_and_add(&serial, 1);
	command->sector = (cmd_flags & REQ_OP_MASK) == REQ_OP_FLUSH ? 0 : rq->__sector;
	command->cmd_flags = cmd_flags;
	command->tid = task->pid;
	command->sectors = 0;
	name_thread(task, now);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, __u8 error, unsigned int bytes)
{
	struct command *command = place_of(rq, 0);
	if (!command || !command->issue_ns)
		return 0;
	command->sectors += bytes >> 9;
	if (bytes < rq->__data_len)
		return 0;
	emit((struct record){
		.type = RECORD_BLOCK,
		.begin_ns = command->issue_ns,
		.end_ns = clock_ns(),
		.flags = error,
		.tid = command->tid,
		.dev = disk_dev(rq->q->disk),
		.n = command->sectors,
		.a = command->sector,
		.b = command->cmd_flags,
		.c = command->start_ns,
		.d = command->serial,
	});
	command->issue_ns = 0;
	return 0;
}
