// SPDX-License-Identifier: GPL-2.0-only
/*
 * block.bpf.c - which commands did the device get, and how long did each take?
 *
 * block_rq_issue, block_rq_complete: a `block` record when a command completes.
 *
 * A command is known by its request's address. One that completes in parts is recorded once,
 * at the last part, with the sectors of all; a requeued one has the time of its last issue. A
 * "flush, then write with FUA" of a filesystem is what the device gets: a flush (REQ_OP_FLUSH,
 * sector and sectors 0) and a write with FUA. After it the flush machinery completes the
 * filesystem's own request, which was never issued (or was, and is recorded already): no
 * record. tid is who handed the command to the driver: behind a flush that is a kworker.
 *
 * Against /sys/block/<dev>/stat, in a window with an idle device at both ends:
 *   flush_ios = flush records;  write_sectors = sum of the writes' sectors;  reads alike
 *   write_ios = writes + bios that are empty flushes (each is an empty write for the kernel's
 *   counters, and no command)
 */
#include "probe.h"

#define COMMANDS 32768
#define NEIGHBOURS 32

/*
 * A request has one of a few places, by its address, for good: requests are used again and again.
 * (The kernel's own hash table takes four times as many instructions.)
 */
static struct command {
	__u64 request;				  /* its address; 0: free */
	__u64 issue_ns, start_ns, serial, sector; /* issue_ns 0: not in flight */
	__u32 cmd_flags, tid, sectors;
} commands[COMMANDS];

static __u64 serial;

/* The place of a request, NULL if it has none; `add` makes one. */
static __always_inline struct command *place_of(struct request *rq, int add)
{
	/* the verifier lets a pointer become a number only as the distance between two */
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
