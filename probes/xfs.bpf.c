// SPDX-License-Identifier: GPL-2.0-only
/*
 * xfs.bpf.c - record fsyncs of XFS files (sync.h), log checkpoints, and waits for the log.
 *
 * xfs_file_fsync, xfs_dir_fsync: sync.h.
 *
 * xlog_cil_push_work: a `checkpoint` record when it returns (Documentation/filesystems/xfs uses
 * that word): everything committed to memory so far goes to the log buffers, and full or awaited
 * buffers go to the device. A worker thread does it, during the sync that requested it. It has no
 * reason: n is 0.
 *
 * xfs_log_force_seq: a `node_wait` record when it returns: an fsync waited until the log up to its
 * own changes was on the device. It has no inode: a is 0.
 */
#include "sync.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct work_struct {
	unsigned long data;
};

struct xfs_mount {
	struct super_block *m_super;
};

struct xlog {
	struct xfs_mount *l_mp;
};

struct xfs_cil {
	struct xlog *xc_log;
};

struct xfs_cil_ctx {
	struct xfs_cil *cil;
	struct work_struct push_work;
};

#pragma clang attribute pop

static struct push {
	struct begun begun;
	__u32 dev;
} pushes[THREADS];

static struct force {
	struct begun begun;
	__u32 dev;
} forces[THREADS];

SEC(ENTRY "xlog_cil_push_work")
int AT_ENTRY(push_begin, struct work_struct *work)
{
	struct task_struct *task = current();
	struct push *push = OF(pushes, task);
	struct xfs_cil_ctx *context =
		(void *)work - bpf_core_field_offset(struct xfs_cil_ctx, push_work);
	begin(&push->begun, task);
	/* it is freed before the return */
	push->dev = BPF_CORE_READ(context, cil, xc_log, l_mp, m_super, s_dev);
	return 0;
}

SEC(RETURN "xlog_cil_push_work")
int push_end(void *ctx)
{
	struct task_struct *task = current();
	struct push *push = OF(pushes, task);
	return emit_ended(&push->begun, task,
			  (struct record){
				  .type = RECORD_CHECKPOINT,
				  .dev = push->dev,
			  });
}

SEC(ENTRY "xfs_log_force_seq")
int AT_ENTRY(force_begin, struct xfs_mount *mount)
{
	struct task_struct *task = current();
	struct force *force = OF(forces, task);
	begin(&force->begun, task);
	force->dev = BPF_CORE_READ(mount, m_super, s_dev);
	return 0;
}

SEC(RETURN "xfs_log_force_seq")
int force_end(void *ctx)
{
	struct task_struct *task = current();
	struct force *force = OF(forces, task);
	return emit_ended(&force->begun, task,
			  (struct record){
				  .type = RECORD_NODE_WAIT,
				  .dev = force->dev,
			  });
}

SEC(ENTRY "xfs_file_fsync")
int file_sync_begin(void *ctx)
{
	return sync_begin(ctx);
}

SEC(RETURN "xfs_file_fsync")
int file_sync_end(void *ctx)
{
	return sync_end(ctx);
}

SEC(ENTRY "xfs_dir_fsync")
int directory_sync_begin(void *ctx)
{
	return sync_begin(ctx);
}

SEC(RETURN "xfs_dir_fsync")
int directory_sync_end(void *ctx)
{
	return sync_end(ctx);
}

SEC(RETURN "file_write_and_wait_range")
int xfs_data_end(void *ctx)
{
	return data_end(ctx);
}
