// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes: kernel module with a faster CLOCK_MONOTONIC for the probes, and a check of it against the
 * kernel's.
 *
 *   commitpath_clock_ns()                       for BPF programs: CLOCK_MONOTONIC in ns
 *   /sys/module/probes/parameters/clock         reading it compares both clocks, and fails
 *                                               if they differ
 *
 * The kernel's own clock for BPF takes 67 instructions, this one 10: the CPU's counter times the
 * nanoseconds per count, plus the kernel's clock when the module was loaded. It is exact if a count
 * is a whole number of nanoseconds (16 on the virtual board) and the kernel's clock is not
 * adjusted; otherwise the comparison fails. On kernels before 6.9, where BPF programs cannot call a
 * module's function, only the comparison is available.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include <asm/arch_timer.h>

/* before Linux 6.9 these macros have other names, before 6.3 one is missing */
#ifndef __bpf_kfunc
#define __bpf_kfunc __used noinline
#endif
#ifndef __bpf_kfunc_start_defs
#define __bpf_kfunc_start_defs() __diag_push()
#define __bpf_kfunc_end_defs() __diag_pop()
#endif
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START BTF_SET8_START
#define BTF_KFUNCS_END BTF_SET8_END
#endif

/* the probes detect the module by this name (probes/probe.h) */
static struct commitpath_clock {
	u64 ns_per_count, begin_ns; /* begin: where the counter is 0; modulo 2^64 */
} line __ro_after_init;

static __always_inline u64 ns_of(u64 count)
{
	return count * line.ns_per_count + line.begin_ns;
}

#ifdef BTF_KFUNCS_START
#define FOR_BPF __bpf_kfunc
__bpf_kfunc_start_defs();
#else
#define FOR_BPF static
#endif

FOR_BPF notrace u64 commitpath_clock_ns(void)
{
	return ns_of(__arch_counter_get_cntvct());
}

#ifdef BTF_KFUNCS_START
__bpf_kfunc_end_defs();

BTF_KFUNCS_START(kfuncs)
BTF_ID_FLAGS(func, commitpath_clock_ns)
BTF_KFUNCS_END(kfuncs)

static const struct btf_kfunc_id_set kfunc_set = {.owner = THIS_MODULE, .set = &kfuncs};

static int offer(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &kfunc_set);
}
#else
static int offer(void)
{
	return 0;
}
#endif

/* Return CLOCK_MONOTONIC, and the count from which the kernel computed it. */
static u64 kernel_ns(u64 *count)
{
	struct system_time_snapshot now;

#ifdef HAS_SNAPSHOT_OF_CLOCK
	ktime_get_snapshot_id(CLOCK_MONOTONIC, &now);
	*count = now.cycles;
	return now.systime;
#else
	ktime_get_snapshot(&now);
	*count = now.cycles;
	return ktime_sub(now.real, ktime_mono_to_any(0, TK_OFFS_REAL));
#endif
}

/* Check that both clocks agree for the same count, and that the BPF clock lies between two. */
static int prove(char *buffer, const struct kernel_param *unused)
{
	u64 count, before = commitpath_clock_ns(), ns = kernel_ns(&count),
		   fast_ns = ktime_get_mono_fast_ns(), after = commitpath_clock_ns();

	if (ns_of(count) != ns || ns < before || fast_ns < ns || after < fast_ns) {
		pr_err("probes: the probes' clock is wrong: %llu ns where CLOCK_MONOTONIC is "
		       "%llu\n",
		       ns_of(count), ns);
		return -ERANGE;
	}
	return sysfs_emit(buffer, "exact\n");
}

static const struct kernel_param_ops clock_ops = {.get = prove};
module_param_cb(clock, &clock_ops, NULL, 0400);

static int __init probes_init(void)
{
	u64 count, ns = kernel_ns(&count);

	line.ns_per_count = NSEC_PER_SEC / arch_timer_get_cntfrq();
	line.begin_ns = ns - count * line.ns_per_count;
	return offer();
}

/* The kernel unregisters a module's functions by itself. */
static void __exit probes_exit(void)
{
}

module_init(probes_init);
module_exit(probes_exit);
MODULE_DESCRIPTION("The probes' clock");
MODULE_LICENSE("GPL");
