/*
 * sync.h - record fsyncs, and the wait of each for its file's data: shared by the probes of all
 * filesystems.
 *
 * A filesystem's probe calls sync_begin and sync_end at the entry and return of its
 * file_operations' fsync (file, from, to, datasync), and data_end at the return of
 * file_write_and_wait_range (file, from, to). A `sync` record is emitted at the return, preceded by
 * the file's name when the file (device, inode, generation) was not seen recently.
 *
 * file_write_and_wait_range, the first call of a sync: a `data_wait` record when it returns, after
 * writing the file's dirty pages and waiting for them. It begins with the sync: a hook at its entry
 * would take longer than the interval it measures.
 *
 * The caller is the thread's system call, by its number on arm64; a hook on do_fsync would cost as
 * much as the record. In an io_uring worker it is io_uring; 0, `kernel`, is any other path: an
 * O_SYNC or O_DSYNC write, msync, an aio fsync. sync(2), syncfs and what a filesystem does for an
 * ioctl (such as an atomic write's commit) do not sync a single file and have no record.
 */
#ifndef SYNC_H
#define SYNC_H

#include "probe.h"

#define SYSCALL_FSYNC 82
#define SYSCALL_FDATASYNC 83
#define NAME_BYTES 24 /* in one record */
#define NAME_PARTS 11 /* NAME_MAX is 255 */

/* The number of a filesystem's device; one with several devices defines another. */
#ifndef FILESYSTEM_DEV
#define FILESYSTEM_DEV(sb) GET(sb, s_dev)
#endif

enum caller { KERNEL, FSYNC, FDATASYNC, IO_URING };

static struct begun syncs[THREADS];

/* Files whose names were written; a file that replaces another here has its name written again. */
static struct {
	__u64 inode;
	__u32 dev, generation;
} seen[1024];

static __always_inline enum caller caller_of(struct task_struct *task)
{
	if (task->flags & PF_IO_WORKER)
		return IO_URING;
	if (task->flags & PF_KTHREAD)
		return KERNEL;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs((void *)task);
	if (regs->syscallno == SYSCALL_FSYNC)
		return FSYNC;
	return regs->syscallno == SYSCALL_FDATASYNC ? FDATASYNC : KERNEL;
}

static __always_inline void write_name(struct file *file, const struct record *sync)
{
	__u32 place = sync->a & 1023;
	if (seen[place].inode == sync->a && seen[place].dev == sync->dev &&
	    seen[place].generation == sync->b)
		return;
	seen[place].inode = sync->a;
	seen[place].dev = sync->dev;
	seen[place].generation = sync->b;

	struct dentry *entry = GET(file, f_path.dentry);
	const unsigned char *name = GET(entry, d_name.name);
	for (int part = 0; part < NAME_PARTS; part++) {
		/* one byte more for the terminating zero */
		char text[NAME_BYTES + 8] = {};
		long length =
			bpf_probe_read_kernel_str(text, NAME_BYTES + 1, name + part * NAME_BYTES);
		if (length <= 1)
			return;
		struct record record = {
			.type = RECORD_NAME,
			.begin_ns = sync->end_ns,
			.end_ns = sync->end_ns,
			.tid = sync->tid,
			.dev = sync->dev,
			.n = part,
			.a = sync->a,
		};
		__builtin_memcpy(&record.b, text, NAME_BYTES);
		emit(record);
		if (length <= NAME_BYTES)
			return;
	}
}

static __always_inline int sync_begin(void *ctx)
{
	struct task_struct *task = current();
	begin_call(OF(syncs, task), task, ctx);
	return 0;
}

static __always_inline int sync_end(void *ctx)
{
	struct task_struct *task = current();
	struct begun *sync = OF(syncs, task);
	__u64 begin_ns = end(sync, task);
	if (!begin_ns)
		return 0;
	struct file *file = (void *)ARGUMENT(sync, ctx, 0);
	int datasync = (int)ARGUMENT(sync, ctx, 3);
	struct inode *inode = GET(file, f_inode);
	int is_directory = (GET(inode, i_mode) & S_IFMT) == S_IFDIR;
	struct record record = {
		.type = RECORD_SYNC,
		.begin_ns = begin_ns,
		.end_ns = clock_ns(),
		.flags = (datasync != 0) | is_directory << 1 | caller_of(task) << 4,
		.tid = task->pid,
		.dev = FILESYSTEM_DEV(GET(inode, i_sb)),
		.n = (int)RESULT(ctx, 4),
		.a = GET(inode, i_ino),
		.b = GET(inode, i_generation),
	};
	name_thread(task, record.end_ns);
	write_name(file, &record);
	emit(record);
	return 0;
}

static __always_inline int data_end(void *ctx)
{
	struct task_struct *task = current();
	struct begun *sync = OF(syncs, task);
	if (!sync->ns || sync->tid != (__u32)task->pid)
		return 0;
	struct file *file = (void *)ARGUMENT(sync, ctx, 0);
	struct inode *inode = GET(file, f_inode);
	emit((struct record){
		.type = RECORD_DATA_WAIT,
		.begin_ns = sync->ns,
		.end_ns = clock_ns(),
		.tid = task->pid,
		.dev = FILESYSTEM_DEV(GET(inode, i_sb)),
		.n = (int)RESULT(ctx, 3),
		.a = GET(inode, i_ino),
	});
	return 0;
}

#endif
