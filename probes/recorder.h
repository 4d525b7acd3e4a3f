/* recorder.h - shared functions of the recorder: fail, constants of the kernel (BTF), kprobes. */
#ifndef RECORDER_H
#define RECORDER_H

#include <bpf/libbpf.h>

/* Print one line, detach everything, delete the file, and exit with 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Return the text for errno, including libbpf's own numbers. */
const char *why(void);

/* adapt.c: return whether the kernel supports the probes' fentry build (probe.h). */
int can_fentry(void);

/* adapt.c: set each constant MODULE__ENUMERATOR of the probes to the kernel's value. */
void set_constants(const struct bpf_object *object);

/* kprobes.c: attach a program of section kprobe/FUNCTION or kretprobe/FUNCTION. */
struct bpf_link *attach_kprobe(struct bpf_program *program);
/* Remove the kprobes after detaching; return the number of calls missed. */
__u64 remove_kprobes(void);

#endif
