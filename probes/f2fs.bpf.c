// SPDX-License-Identifier: GPL-2.0-only
/*
 * f2fs.bpf.c - record fsyncs of F2FS files (sync.h), checkpoints with their reason, and the node
 * writes that an fsync does instead of a checkpoint.
 *
 * f2fs_sync_file: sync.h.
 *
 * f2fs_write_checkpoint (tracepoint and return): a `checkpoint` record at its end. begin is
 * after the wait for the checkpoint lock, where other operations start to block: the first step of
 * the tracepoint. A call without work has no record; one that fails has one. An fsync that needs a
 * checkpoint (for example, for a new directory entry) contains it; most only write a node block
 * and flush.
 *
 * f2fs_fsync_node_pages (entry, the first of a sync) to f2fs_wait_on_node_pages_writeback
 * (return): a `node_wait` record. An atomic write's commit calls only the former: no record.
 */
#include "sync.h"

static struct checkpoint {
	struct begun begun;
	__u32 dev, reason;
} checkpoints[THREADS];

static struct wait {
	struct begun begun;
	__u64 inode;
	__u32 dev;
} waits[THREADS];

SEC("tp_btf/f2fs_write_checkpoint")
int BPF_PROG(checkpoint_begin, struct super_block *sb, int reason)
{
	struct task_struct *task = current();
	struct checkpoint *checkpoint = OF(checkpoints, task);
	if (!sb || checkpoint->begun.ns)
		return 0;
	begin(&checkpoint->begun, task);
	checkpoint->dev = sb->s_dev;
	checkpoint->reason = reason;
	return 0;
}

SEC(RETURN "f2fs_write_checkpoint")
int checkpoint_end(void *ctx)
{
	struct task_struct *task = current();
	struct checkpoint *checkpoint = OF(checkpoints, task);
	return emit_ended(&checkpoint->begun, task,
			  (struct record){
				  .type = RECORD_CHECKPOINT,
				  .dev = checkpoint->dev,
				  .n = checkpoint->reason,
			  });
}

SEC(ENTRY "f2fs_fsync_node_pages")
int AT_ENTRY(nodes_begin, void *sbi, struct inode *inode)
{
	struct task_struct *task = current();
	struct wait *wait = OF(waits, task);
	struct begun *sync = OF(syncs, task);
	__u32 tid = task->pid;
	if (!sync->ns || sync->tid != tid)
		return 0;
	/* again in the same sync */
	if (wait->begun.tid == tid && wait->begun.ns > sync->ns)
		return 0;
	begin(&wait->begun, task);
	wait->inode = GET(inode, i_ino);
	wait->dev = GET(GET(inode, i_sb), s_dev);
	return 0;
}

SEC(RETURN "f2fs_wait_on_node_pages_writeback")
int nodes_end(void *ctx)
{
	struct task_struct *task = current();
	struct wait *wait = OF(waits, task);
	return emit_ended(&wait->begun, task,
			  (struct record){
				  .type = RECORD_NODE_WAIT,
				  .dev = wait->dev,
				  .a = wait->inode,
			  });
}

SEC(ENTRY "f2fs_sync_file")
int f2fs_sync_begin(void *ctx)
{
	return sync_begin(ctx);
}

SEC(RETURN "f2fs_sync_file")
int f2fs_sync_end(void *ctx)
{
	return sync_end(ctx);
}

SEC(RETURN "file_write_and_wait_range")
int f2fs_data_end(void *ctx)
{
	return data_end(ctx);
}
