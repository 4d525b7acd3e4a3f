/*
 * wait.bpf.c - where does a sync spend its time: waiting for data, or off the CPU?
 *
 * file_write_and_wait_range: a `data_wait` record when it returns: a file's dirty pages were
 * written and waited for. sched_switch, of the driver's threads only (by comm): an `off_cpu`
 * record when one gets the CPU back, with the state it left it in (0: it could have run on).
 */
#include "probe.h"

#define DRIVER 0x726576697264ULL /* "driver", padded with zeros, as a number */

static struct begun waits[THREADS];

static struct off {
	struct begun begun;
	__u32 state;
} offs[THREADS];

SEC("fentry/file_write_and_wait_range")
int data_begin(void *ctx)
{
	struct task_struct *task = current();
	begin(OF(waits, task), task);
	return 0;
}

SEC("fexit/file_write_and_wait_range")
int BPF_PROG(data_end, struct file *file, __s64 from, __s64 to, int result)
{
	struct task_struct *task = current();
	__u64 begin_ns = end(OF(waits, task), task);
	if (!begin_ns)
		return 0;
	struct inode *inode = file->f_inode;
	emit((struct record){
		.type = RECORD_DATA_WAIT,
		.begin_ns = begin_ns,
		.end_ns = bpf_ktime_get_ns(),
		.tid = task->pid,
		.dev = inode->i_sb->s_dev,
		.n = result,
		.a = inode->i_ino,
	});
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(cpu_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	if (short_comm(prev) == DRIVER) {
		begin(&OF(offs, prev)->begun, prev);
		OF(offs, prev)->state = state;
	}
	if (short_comm(next) != DRIVER)
		return 0;
	__u64 begin_ns = end(&OF(offs, next)->begun, next);
	if (begin_ns)
		emit((struct record){
			.type = RECORD_OFF_CPU,
			.begin_ns = begin_ns,
			.end_ns = bpf_ktime_get_ns(),
			.flags = OF(offs, next)->state,
			.tid = next->pid,
		});
	return 0;
}
