/* A program of the host that includes a probe and calls its functions: the ring, and what it needs.
 */
#ifndef NATIVE_H
#define NATIVE_H

#include <stdio.h>

static void native_begin(void)
{
	ring.limit = 64;
	ring.mask = 63;
}

static struct record native_ring[64];

static void *native_record(const __u32 *place)
{
	return &native_ring[*place];
}

void *bpf_rdonly_cast(const void *object, __u32 btf_id)
{
	return (void *)object;
}

__u64 commitpath_clock_ns(void)
{
	return bpf_ktime_get_ns();
}

static void native_print(enum record_type type)
{
	for (__u64 i = 0; i < ring.next; i++)
		if (native_ring[i].type == type)
			printf("%llu %llu %u %u %llu %llu\n", native_ring[i].begin_ns,
			       native_ring[i].end_ns, native_ring[i].flags, native_ring[i].n,
			       native_ring[i].a, native_ring[i].b);
}

#endif
