/* In place of libbpf's header: what the recorder calls, for a program of the host. */
#ifndef NATIVE_LIBBPF_H
#define NATIVE_LIBBPF_H

#include <stdarg.h>
#include <stddef.h>

#include <linux/bpf.h>

struct bpf_link;
struct bpf_linker;
struct bpf_map;
struct bpf_object;
struct bpf_program;
struct ring_buffer;

struct bpf_map_create_opts {
	__u32 map_flags;
};
#define LIBBPF_OPTS(type, name, ...) struct type name = {__VA_ARGS__}

enum libbpf_print_level { LIBBPF_WARN };
typedef int (*libbpf_print_fn_t)(enum libbpf_print_level, const char *, va_list);
typedef int (*ring_buffer_sample_fn)(void *, void *, size_t);

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t print);
int libbpf_strerror(int error, char *text, size_t size);
int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size,
		   __u32 entries, const struct bpf_map_create_opts *options);
int bpf_map__reuse_fd(struct bpf_map *map, int fd);
struct bpf_object *bpf_object__open_file(const char *path, const void *options);
struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *object, const char *name);
struct bpf_program *bpf_object__prev_program(const struct bpf_object *object,
					     struct bpf_program *program);
int bpf_object__load(struct bpf_object *object);
void bpf_object__close(struct bpf_object *object);
struct bpf_linker *bpf_linker__new(const char *path, const void *options);
int bpf_linker__add_file(struct bpf_linker *linker, const char *path, const void *options);
int bpf_linker__finalize(struct bpf_linker *linker);
void bpf_linker__free(struct bpf_linker *linker);
enum bpf_prog_type bpf_program__type(const struct bpf_program *program);
const char *bpf_program__name(const struct bpf_program *program);
int bpf_program__fd(const struct bpf_program *program);
struct bpf_link *bpf_program__attach(const struct bpf_program *program);
int bpf_link__destroy(struct bpf_link *link);
int bpf_prog_get_info_by_fd(int fd, struct bpf_prog_info *info, __u32 *size);
struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn sample, void *context,
				     const void *options);
int ring_buffer__epoll_fd(const struct ring_buffer *buffer);
int ring_buffer__consume(struct ring_buffer *buffer);

#endif
