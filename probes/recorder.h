/* recorder.h - what the parts of the recorder share. */
#ifndef RECORDER_H
#define RECORDER_H

#include <bpf/libbpf.h>

/* Say on one line what failed, let go of all that is attached, leave no file, and exit with 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What errno says, libbpf's own numbers too. */
const char *why(void);

/* adapt.c: whether the kernel can run the probes' first build (probe.h). */
int can_fentry(void);

/* adapt.c: set each constant MODULE__ENUMERATOR of the probes to the number that the kernel has.
 */
void set_constants(const struct bpf_object *object);

/* kprobes.c: attach a program of section kprobe/FUNCTION or kretprobe/FUNCTION. */
struct bpf_link *attach_kprobe(struct bpf_program *program);
/* When none is attached any more: remove what attaching made; how many calls they have missed. */
__u64 remove_kprobes(void);

#endif
