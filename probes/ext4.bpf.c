// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4.bpf.c - record fsyncs of ext4 files (sync.h), journal commits with their blocks, and waits
 * for commits.
 *
 * ext4_sync_file: sync.h.
 *
 * jbd2_start_commit, jbd2_commit_flushing, jbd2_commit_logging, jbd2_run_stats,
 * jbd2_end_commit: a `commit` record at a commit's end. jbd2_log_wait_commit: a `commit_wait`
 * record when it returns.
 *
 * Flushing writes the data of data=ordered and waits for it; logging writes the descriptor,
 * metadata and commit block, which are the blocks logged. sync_commit is the kernel's
 * t_synchronous_commit: a handle was synchronous (a mount with sync, a synchronous inode); it stays
 * 0 when an fsync waits for the commit. A fast commit (mkfs -O fast_commit, off by default) does
 * not go through these functions and has no record.
 */
#include "sync.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct journal_s {
	struct block_device *j_fs_dev;
};

struct transaction_s {
	__u32 t_tid;
	unsigned int t_synchronous_commit : 1;
};

struct transaction_run_stats_s {
	__u32 rs_blocks_logged;
};

#pragma clang attribute pop

/* By thread: a journal has one thread, which makes one commit at a time. */
static struct commit {
	struct begun begun;
	__u64 flushing_ns, logging_ns;
	__u32 blocks;
} commits[THREADS];

static struct begun waits[THREADS];

SEC("tp_btf/jbd2_start_commit")
int commit_begin(void *ctx)
{
	struct task_struct *task = current();
	begin(&OF(commits, task)->begun, task);
	return 0;
}

SEC("tp_btf/jbd2_commit_flushing")
int commit_flushing(void *ctx)
{
	OF(commits, current())->flushing_ns = clock_ns();
	return 0;
}

SEC("tp_btf/jbd2_commit_logging")
int commit_logging(void *ctx)
{
	OF(commits, current())->logging_ns = clock_ns();
	return 0;
}

SEC("tp_btf/jbd2_run_stats")
int BPF_PROG(commit_stats, __u32 dev, __u32 tid, struct transaction_run_stats_s *stats)
{
	if (stats)
		OF(commits, current())->blocks = stats->rs_blocks_logged;
	return 0;
}

SEC("tp_btf/jbd2_end_commit")
int BPF_PROG(commit_end, struct journal_s *journal, struct transaction_s *transaction)
{
	struct task_struct *task = current();
	struct commit *commit = OF(commits, task);
	__u64 begin_ns = end(&commit->begun, task);
	if (!journal || !transaction || !begin_ns)
		return 0;
	__u64 now = clock_ns();
	emit((struct record){
		.type = RECORD_COMMIT,
		.begin_ns = begin_ns,
		.end_ns = now,
		.flags = BPF_CORE_READ_BITFIELD(transaction, t_synchronous_commit),
		.tid = task->pid,
		.dev = journal->j_fs_dev->bd_dev,
		.n = commit->blocks,
		.a = transaction->t_tid,
		.b = commit->logging_ns - commit->flushing_ns,
		.c = now - commit->logging_ns,
	});
	return 0;
}

SEC(ENTRY "jbd2_log_wait_commit")
int wait_begin(void *ctx)
{
	struct task_struct *task = current();
	begin_call(OF(waits, task), task, ctx);
	return 0;
}

SEC(RETURN "jbd2_log_wait_commit")
int wait_end(void *ctx)
{
	struct task_struct *task = current();
	struct begun *wait = OF(waits, task);
	struct journal_s *journal = (void *)ARGUMENT(wait, ctx, 0);
	return emit_ended(wait, task,
			  (struct record){
				  .type = RECORD_COMMIT_WAIT,
				  .dev = GET(GET(journal, j_fs_dev), bd_dev),
				  .a = (__u32)ARGUMENT(wait, ctx, 1),
			  });
}

SEC(ENTRY "ext4_sync_file")
int ext4_sync_begin(void *ctx)
{
	return sync_begin(ctx);
}

SEC(RETURN "ext4_sync_file")
int ext4_sync_end(void *ctx)
{
	return sync_end(ctx);
}

SEC(RETURN "file_write_and_wait_range")
int ext4_data_end(void *ctx)
{
	return data_end(ctx);
}
