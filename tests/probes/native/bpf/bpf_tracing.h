/* In place of libbpf's header: a program is a function of the arguments of what it is attached to.
 */
#define BPF_PROG(name, ...) name(__VA_ARGS__)
