/*
 * probe.h - shared code of the BPF probes: macros for their fentry and kprobe builds and for kernel
 * memory, the clock, pending calls by thread, and emitting records and thread names to the ring.
 *
 * The verifier assumes that an argument of a module's tracepoint may be NULL, so the probes check,
 * though none is.
 *
 * Each probe is built twice, and the recorder loads the build that the kernel supports:
 *
 *   NAME.bpf.o     fentry and fexit; kfuncs read kernel memory and loop
 *   NAME.kprobe.o  kprobe and kretprobe; the helpers bpf_probe_read_kernel and bpf_loop.
 *                  A function's arguments are not available at its return
 */
#ifndef PROBE_H
#define PROBE_H

#include <linux/bpf.h>

#ifdef BY_KPROBE
#include <asm/ptrace.h>
#endif

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel.h"
#include "record.h"

char LICENSE[] SEC("license") = "GPL";

/* Weak: shared by all probe files; the recorder replaces it with its own. */
struct ring ring SEC(".data.ring") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RING_RECORDS);
	__type(key, __u32);
	__type(value, struct record);
} records SEC(".maps") __weak;

/* An event here wakes the recorder; its content is not used. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ALARM_BYTES);
} alarm SEC(".maps") __weak;

/*
 * SEC(ENTRY "function"), SEC(RETURN "function"): a program at a function's entry or return.
 * AT_ENTRY(name, the function's arguments...) declares the former, as BPF_PROG does. At the return,
 * ARGUMENT reads an argument and RESULT the result of a function with that many arguments.
 */
#ifdef BY_KPROBE
#define ENTRY "kprobe/"
#define RETURN "kretprobe/"
#define AT_ENTRY BPF_KPROBE
#define ARGUMENT(begun, ctx, n) ((begun)->arguments[n])
#define RESULT(ctx, arguments) PT_REGS_RC((struct user_pt_regs *)(ctx))
#else
#define ENTRY "fentry/"
#define RETURN "fexit/"
#define AT_ENTRY BPF_PROG
#define ARGUMENT(begun, ctx, n) (((unsigned long long *)(ctx))[n])
#define RESULT(ctx, arguments) (((unsigned long long *)(ctx))[arguments])
#endif

static __always_inline struct task_struct *current(void)
{
	return (struct task_struct *)bpf_get_current_task_btf();
}

/* CLOCK_MONOTONIC */
#ifdef BY_KPROBE
#define clock_ns bpf_ktime_get_ns
#else
/* Takes a sixth of the instructions; available if probes/probes/ is loaded. */
__u64 commitpath_clock_ns(void) __ksym __weak;
struct commitpath_clock {
	__u64 ns_per_count;
};

/* (bpf_ksym_exists would take three instructions each time, for its address) */
static __always_inline __u64 clock_ns(void)
{
	return bpf_core_type_exists(struct commitpath_clock) ? commitpath_clock_ns()
							     : bpf_ktime_get_ns();
}
#endif

/*
 * Pending calls, in a table indexed by thread number. If two threads whose numbers differ by a
 * multiple of THREADS have the same call pending, one is counted as lost. (A hash map or task
 * storage would not lose it, but makes tracing cost a tenth more.)
 */
#define THREADS 4096
#define OF(table, task) (&(table)[(task)->pid & (THREADS - 1)])

struct begun {
	__u64 ns; /* 0: nothing */
	__u32 tid;
#ifdef BY_KPROBE
	__u64 arguments[4]; /* of the function, set by begin_call */
#endif
};

static __always_inline void begin(struct begun *begun, struct task_struct *task)
{
	__u32 tid = task->pid;
#ifdef BY_KPROBE
	/* the same thread begins again: its end was missed, as a kretprobe may */
	if (begun->ns)
#else
	if (begun->ns && begun->tid != tid)
#endif
		__sync_fetch_and_add(&ring.updates, 1);
	begun->tid = tid;
	begun->ns = clock_ns();
}

/* As begin, keeping the function's arguments for its return. */
static __always_inline void begin_call(struct begun *begun, struct task_struct *task, void *ctx)
{
	begin(begun, task);
#ifdef BY_KPROBE
	for (int n = 0; n < 4; n++)
		begun->arguments[n] = ((struct user_pt_regs *)ctx)->regs[n];
#endif
}

/* Return when the call that ends now began; 0 if the probe was not attached yet. */
static __always_inline __u64 end(struct begun *begun, struct task_struct *task)
{
	__u64 ns = begun->ns;
	if (begun->tid != (__u32)task->pid)
		return 0;
	begun->ns = 0;
	return ns;
}

/*
 * GET: a field through a pointer from the function or its arguments. FIELD: a field at an address.
 * WORD: eight bytes at an address, a pointer as a number: the verifier rejects arithmetic on what
 * BTF calls a pointer.
 */
#ifdef BY_KPROBE
#define GET(pointer, field)                                        \
	({                                                         \
		typeof(pointer) of_ = (pointer);                   \
		typeof(of_->field) read_ = 0;                      \
		bpf_core_read(&read_, sizeof(read_), &of_->field); \
		read_;                                             \
	})
#define FIELD(type, address, field) GET((type *)(address), field)
#define WORD(type, address, field)                                                             \
	({                                                                                     \
		__u64 word_ = 0;                                                               \
		bpf_probe_read_kernel(&word_, sizeof(word_),                                   \
				      (void *)(address) + bpf_core_field_offset(type, field)); \
		word_;                                                                         \
	})
#else
void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym;
#define AT(type, address) \
	((type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(type)))
#define GET(pointer, field) ((pointer)->field)
#define FIELD(type, address, field) (AT(type, address)->field)
#define WORD(type, address, field) \
	(AT(struct bvec_iter, (__u64)(address) + bpf_core_field_offset(type, field))->bi_sector)
#endif
/*
 * Two adjacent fields of 32 bits as one number, the second in its upper half: one load instead of
 * two. The verifier adds eight instructions to each load through a pointer that the kernel did not
 * pass to the probe.
 */
#define PAIR(type, address, first, second)                                             \
	(bpf_core_field_offset(type, second) == bpf_core_field_offset(type, first) + 4 \
		 ? WORD(type, address, first)                                          \
		 : FIELD(type, address, first) | (__u64)FIELD(type, address, second) << 32)

static __always_inline __u32 disk_dev(struct gendisk *disk)
{
	__u64 numbers = PAIR(struct gendisk, disk, major, first_minor);
	return (__u32)numbers << 20 | (__u32)(numbers >> 32);
}

/*
 * Reserve a place in the ring, NULL when it is full. The recorder sleeps until half the ring is
 * reserved, so a run that fits into half never wakes it. (The kernel's ring buffer takes two calls
 * per record.)
 */
static __always_inline struct record *reserve_at(__u32 *where)
{
	__u64 number = __sync_fetch_and_add(&ring.next, 1);
	__u32 place = number & ring.mask;
	if (number >= ring.limit)
		return NULL;
	if (!(~number & ring.mask / 2))
		bpf_ringbuf_output(&alarm, &number, sizeof(number), BPF_RB_FORCE_WAKEUP);
	*where = place;
	return bpf_map_lookup_elem(&records, &place);
}

static __always_inline struct record *reserve(void)
{
	__u32 where;
	return reserve_at(&where);
}

/* The exchange is a barrier: a reader that sees the type sees the whole record. */
static __always_inline void finish(struct record *place, __u64 head)
{
	__sync_lock_test_and_set(&place->head, head);
}

static __always_inline void emit(struct record record)
{
	struct record *place = reserve();
	if (!place)
		return;
	place->begin_ns = record.begin_ns;
	place->end_ns = record.end_ns;
	place->dev = record.dev;
	place->n = record.n;
	place->a = record.a;
	place->b = record.b;
	place->c = record.c;
	place->d = record.d;
	finish(place, record.head);
}

/* Emit the record of a call that ended; this sets its times and thread. */
static __always_inline int emit_ended(struct begun *begun, struct task_struct *task,
				      struct record record)
{
	record.begin_ns = end(begun, task);
	if (!record.begin_ns)
		return 0;
	record.end_ns = clock_ns();
	record.tid = task->pid;
	emit(record);
	return 0;
}

/* Return the first 8 of comm's 16 bytes, which the kernel pads with zeros. */
static __always_inline __u64 short_comm(struct task_struct *task)
{
	return *(__u64 *)&task->comm[0];
}

/*
 * Emit a thread's name once, and again when another thread had its place in the table or its name
 * changed (the driver was a shell before exec).
 */
static struct {
	__u64 comm;
	__u32 tid;
} named[256];

static __always_inline void name_thread(struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid;
	__u64 comm = short_comm(task);
	__u32 place = tid & 255;
	if (named[place].tid == tid && named[place].comm == comm)
		return;
	named[place].tid = tid;
	named[place].comm = comm;
	emit((struct record){
		.type = RECORD_COMM,
		.begin_ns = now,
		.end_ns = now,
		.tid = tid,
		.n = tid,
		.a = comm,
		.b = *(__u64 *)&task->comm[8],
	});
}

#endif
