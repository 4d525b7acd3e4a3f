/*
 * The recorder on a kernel that skipped runs of two of its three programs, and then interrupts it.
 * It does not use libbpf: each function here is in the place of libbpf's.
 */
#define _GNU_SOURCE
#define main recorder_main
#include "recorder.c"
#undef main

static char programs[3];
static const __u64 skipped[] = {3, 0, 4};

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size,
		   __u32 entries, const struct bpf_map_create_opts *options)
{
	int fd = memfd_create(name, 0);
	return ftruncate(fd, (off_t)value_size * entries) ? -1 : fd;
}

struct bpf_program *bpf_object__prev_program(const struct bpf_object *object,
					     struct bpf_program *program)
{
	char *next = program ? (char *)program - 1 : &programs[2];
	return next < programs ? NULL : (struct bpf_program *)next;
}

int bpf_program__fd(const struct bpf_program *program)
{
	return (int)((const char *)program - programs);
}

int bpf_prog_get_info_by_fd(int fd, struct bpf_prog_info *info, __u32 *size)
{
	info->recursion_misses = skipped[fd];
	return 0;
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn sample, void *context,
				     const void *options)
{
	raise(SIGINT);
	return (struct ring_buffer *)programs;
}

int ring_buffer__epoll_fd(const struct ring_buffer *buffer)
{
	return epoll_create1(0);
}

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	return (struct bpf_link *)program;
}

enum bpf_prog_type bpf_program__type(const struct bpf_program *program)
{
	return BPF_PROG_TYPE_TRACING;
}

/* The rest has no effect, or any object as its result. */
#define SUCCEEDS(name, ...)   \
	int name(__VA_ARGS__) \
	{                     \
		return 0;     \
	}
#define GIVES(type, name, ...)           \
	type *name(__VA_ARGS__)          \
	{                                \
		return (type *)programs; \
	}
SUCCEEDS(mlockall, int flags)
SUCCEEDS(can_fentry, void)
SUCCEEDS(libbpf_strerror, int error, char *text, size_t size)
SUCCEEDS(bpf_map__reuse_fd, struct bpf_map *map, int fd)
SUCCEEDS(bpf_object__load, struct bpf_object *object)
SUCCEEDS(bpf_linker__add_file, struct bpf_linker *linker, const char *path, const void *options)
SUCCEEDS(bpf_linker__finalize, struct bpf_linker *linker)
SUCCEEDS(bpf_link__destroy, struct bpf_link *link)
SUCCEEDS(ring_buffer__consume, struct ring_buffer *buffer)
GIVES(struct bpf_object, bpf_object__open_file, const char *path, const void *options)
GIVES(struct bpf_map, bpf_object__find_map_by_name, const struct bpf_object *object,
      const char *name)
GIVES(struct bpf_linker, bpf_linker__new, const char *path, const void *options)
GIVES(const char, bpf_program__name, const struct bpf_program *program)
GIVES(struct bpf_link, attach_kprobe, struct bpf_program *program)

void bpf_object__close(struct bpf_object *object)
{
}

void bpf_linker__free(struct bpf_linker *linker)
{
}

void set_constants(const struct bpf_object *object)
{
}

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t print)
{
	return print;
}

__u64 remove_kprobes(void)
{
	return 10;
}

int main(int count, char **arguments)
{
	return recorder_main(count, arguments);
}
