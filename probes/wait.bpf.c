// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait.bpf.c - record when the driver is off the CPU.
 *
 * sched_switch, for the driver's threads only (by comm): an `off_cpu` record when one gets the CPU
 * back, with the state in which it left (0: runnable).
 */
#include "probe.h"

#define DRIVER 0x726576697264ULL /* "driver", padded with zeros, as a number */

static struct off {
	struct begun begun;
	__u32 state;
} offs[THREADS];

SEC("tp_btf/sched_switch")
int BPF_PROG(cpu_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	if (short_comm(prev) == DRIVER) {
		struct off *off = OF(offs, prev);
		begin(&off->begun, prev);
		off->state = state;
	}
	if (short_comm(next) != DRIVER)
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
