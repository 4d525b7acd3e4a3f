/* In place of libbpf's header. */
#include <bpf/libbpf.h>
