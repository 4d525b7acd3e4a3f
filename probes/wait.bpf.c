// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait.bpf.c - record when the driver's main thread is off the CPU, by sched_switch.
 *
 * sched_switch, for the driver's main thread only (by comm): an `off_cpu` record when it gets the
 * CPU back, with the state in which it left (0: runnable). A thread that an engine starts has the
 * same comm until it takes another.
 */
#include "probe.h"

#define DRIVER 0x726576697264ULL /* "driver", padded with zeros, as a number */

static struct off {
	struct begun begun;
	__u32 state;
} offs[THREADS];

static __always_inline _Bool is_driver(struct task_struct *task)
{
	return short_comm(task) == DRIVER && task->pid == task->tgid;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(cpu_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	if (is_driver(prev)) {
		struct off *off = OF(offs, prev);
		begin(&off->begun, prev);
		off->state = state;
	}
	if (!is_driver(next))
		return 0;
	struct off *off = OF(offs, next);
	__u64 begin_ns = end(&off->begun, next);
	if (begin_ns)
		emit((struct record){
			.type = RECORD_OFF_CPU,
			.begin_ns = begin_ns,
			.end_ns = clock_ns(),
			.flags = off->state,
			.tid = next->pid,
		});
	return 0;
}
