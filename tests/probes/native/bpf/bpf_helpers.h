/* In place of libbpf's header: the macros and helpers that a probe uses, for a program of the host.
 */
#ifndef NATIVE_HELPERS_H
#define NATIVE_HELPERS_H

#include <stddef.h>

#define SEC(name)
#define __weak
#define __ksym
#define __always_inline inline
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name

#define bpf_for(i, first, behind) for (i = (first); i < (behind); i++)

static __u64 native_ns; /* the clock: each reading takes a nanosecond */
static void *native_task;

static inline __u64 bpf_ktime_get_ns(void)
{
	return ++native_ns;
}

static inline void *bpf_get_current_task_btf(void)
{
	return native_task;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static inline long bpf_ringbuf_output(void *map, void *data, __u64 size, __u64 flags)
{
	return 0;
}

static inline long bpf_task_pt_regs(void *task)
{
	return (long)task;
}

static inline long bpf_probe_read_kernel_str(void *to, __u32 size, const void *from)
{
	return 0;
}

/* of the only map that probes read: the ring's records */
static void *native_record(const __u32 *place);
#define bpf_map_lookup_elem(map, place) native_record(place)

#endif
