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

struct command {
	__u64 issue_ns, queue_ns, serial, sector; /* issue_ns 0: not in flight */
	__u32 cmd_flags, tid, sectors;
};

/* Requests are used again and again, so their entries stay: no update, no delete for a command. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64); /* the request's address */
	__type(value, struct command);
} commands SEC(".maps");

static __u64 serial;

/* A request's entry, NULL (and counted) when it is a new one and the map is full. */
static __always_inline struct command *entry_of(__u64 key)
{
	struct command *command = bpf_map_lookup_elem(&commands, &key);
	if (command)
		return command;
	struct command none = {};
	bpf_map_update_elem(&commands, &key, &none, BPF_NOEXIST);
	command = bpf_map_lookup_elem(&commands, &key);
	if (!command)
		__sync_fetch_and_add(&ring.updates, 1);
	return command;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	struct task_struct *task = current();
	struct command *command = entry_of((__u64)rq);
	if (!command)
		return 0;
	__u32 cmd_flags = rq->cmd_flags;
	__u64 now = bpf_ktime_get_ns();
	*command = (struct command){
		.issue_ns = now,
		.queue_ns = rq->start_time_ns,
		.serial = __sync_fetch_and_add(&serial, 1),
		.sector = (cmd_flags & REQ_OP_MASK) == REQ_OP_FLUSH ? 0 : rq->__sector,
		.cmd_flags = cmd_flags,
		.tid = task->pid,
	};
	name_thread(task, now);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, __u8 error, unsigned int bytes)
{
	__u64 key = (__u64)rq;
	struct command *command = bpf_map_lookup_elem(&commands, &key);
	if (!command || !command->issue_ns)
		return 0;
	command->sectors += bytes >> 9;
	if (bytes < rq->__data_len)
		return 0;
	emit((struct record){
		.type = RECORD_BLOCK,
		.begin_ns = command->issue_ns,
		.end_ns = bpf_ktime_get_ns(),
		.flags = error,
		.tid = command->tid,
		.dev = disk_dev(rq->q->disk),
		.n = command->sectors,
		.a = command->sector,
		.b = command->cmd_flags,
		.c = command->queue_ns,
		.d = command->serial,
	});
	command->issue_ns = 0;
	return 0;
}
