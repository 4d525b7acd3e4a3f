// SPDX-License-Identifier: GPL-2.0-only
/*
 * btrfs.bpf.c - record fsyncs of Btrfs files (sync.h), commits of transactions, waits for the log
 * tree, and the flushes of both.
 *
 * A Btrfs has a device number of its own, so its records have the number of its device (the last
 * one with the newest generation, as in /proc/mounts).
 *
 * btrfs_sync_file: sync.h. filemap_fdatawait_range, the first of a sync: a `data_wait` record when
 * it returns.
 *
 * btrfs_commit_transaction: a `checkpoint` record when it returns: all trees are written, then the
 * superblock. It has no reason: n is 0.
 *
 * btrfs_sync_log: a `node_wait` record when it returns: an fsync wrote the log tree and the
 * superblock. It has no inode: a is 0.
 *
 * block_bio_queue of an empty write to btrfs_end_empty_barrier: a `flush` record. Btrfs does not
 * call blkdev_issue_flush.
 */
struct super_block;
static inline __attribute__((always_inline)) unsigned int device_of(struct super_block *sb);
#define FILESYSTEM_DEV(sb) device_of(sb)
#include "sync.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct btrfs_device {
	struct block_device *bdev;
};

struct btrfs_fs_devices {
	struct btrfs_device *latest_dev;
};

struct btrfs_fs_info {
	struct btrfs_fs_devices *fs_devices;
};

struct btrfs_root {
	struct btrfs_fs_info *fs_info;
};

struct btrfs_trans_handle {
	struct btrfs_fs_info *fs_info;
};

struct super_block___info {
	void *s_fs_info;
};

#pragma clang attribute pop

static __always_inline __u32 device_in(struct btrfs_fs_info *info)
{
	return BPF_CORE_READ(info, fs_devices, latest_dev, bdev, bd_dev);
}

static __always_inline __u32 device_of(struct super_block *sb)
{
	return device_in(BPF_CORE_READ((struct super_block___info *)sb, s_fs_info));
}

static struct pending {
	struct begun begun;
	__u32 dev;
} commits[THREADS], logs[THREADS];

/* of one device at a time: each has one such bio */
static struct flush {
	__u64 ns;
	__u32 tid, dev;
} flushes[64];

SEC(ENTRY "btrfs_commit_transaction")
int AT_ENTRY(btrfs_commit_begin, struct btrfs_trans_handle *transaction)
{
	struct task_struct *task = current();
	struct pending *commit = OF(commits, task);
	begin(&commit->begun, task);
	/* it is freed before the return */
	commit->dev = device_in(BPF_CORE_READ(transaction, fs_info));
	return 0;
}

SEC(RETURN "btrfs_commit_transaction")
int btrfs_commit_end(void *ctx)
{
	struct task_struct *task = current();
	struct pending *commit = OF(commits, task);
	return emit_ended(&commit->begun, task,
			  (struct record){
				  .type = RECORD_CHECKPOINT,
				  .dev = commit->dev,
			  });
}

SEC(ENTRY "btrfs_sync_log")
int AT_ENTRY(btrfs_log_begin, struct btrfs_trans_handle *transaction)
{
	struct task_struct *task = current();
	struct pending *log = OF(logs, task);
	begin(&log->begun, task);
	log->dev = device_in(BPF_CORE_READ(transaction, fs_info));
	return 0;
}

SEC(RETURN "btrfs_sync_log")
int btrfs_log_end(void *ctx)
{
	struct task_struct *task = current();
	struct pending *log = OF(logs, task);
	return emit_ended(&log->begun, task,
			  (struct record){
				  .type = RECORD_NODE_WAIT,
				  .dev = log->dev,
			  });
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(btrfs_flush_begin, struct bio *bio)
{
	if (bio->bi_iter.bi_size || (bio->bi_opf & REQ_OP_MASK) != REQ_OP_WRITE)
		return 0;
	__u32 dev = bio->bi_bdev->bd_dev;
	struct flush *flush = &flushes[dev & 63];
	flush->tid = current()->pid;
	flush->dev = dev;
	flush->ns = clock_ns();
	return 0;
}

SEC(ENTRY "btrfs_end_empty_barrier")
int AT_ENTRY(btrfs_flush_end, struct bio *bio)
{
	__u32 dev = BPF_CORE_READ(bio, bi_bdev, bd_dev);
	struct flush *flush = &flushes[dev & 63];
	if (flush->dev == dev && flush->ns)
		emit((struct record){
			.type = RECORD_FLUSH,
			.begin_ns = flush->ns,
			.end_ns = clock_ns(),
			.tid = flush->tid,
			.dev = dev,
		});
	flush->ns = 0;
	return 0;
}

/* the file of a sync until its first wait for data */
static struct {
	__u64 inode;
	__u32 dev;
	_Bool waits;
} synced[THREADS];

SEC(ENTRY "btrfs_sync_file")
int AT_ENTRY(btrfs_sync_begin, struct file *file)
{
	struct task_struct *task = current();
	__u32 place = task->pid & (THREADS - 1);
	synced[place].inode = BPF_CORE_READ(file, f_inode, i_ino);
	synced[place].dev = device_of(BPF_CORE_READ(file, f_inode, i_sb));
	synced[place].waits = 1;
	return sync_begin(ctx);
}

SEC(RETURN "btrfs_sync_file")
int btrfs_sync_end(void *ctx)
{
	return sync_end(ctx);
}

SEC(RETURN "filemap_fdatawait_range")
int btrfs_data_end(void *ctx)
{
	struct task_struct *task = current();
	struct begun *sync = OF(syncs, task);
	__u32 place = task->pid & (THREADS - 1);
	if (!sync->ns || sync->tid != (__u32)task->pid || !synced[place].waits)
		return 0;
	synced[place].waits = 0;
	emit((struct record){
		.type = RECORD_DATA_WAIT,
		.begin_ns = sync->ns,
		.end_ns = clock_ns(),
		.tid = task->pid,
		.dev = synced[place].dev,
		.n = (int)RESULT(ctx, 3),
		.a = synced[place].inode,
	});
	return 0;
}
