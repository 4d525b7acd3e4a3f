/*
 * adapt.c - find out by BTF and a trial attach if the kernel supports the probes' fentry build, and
 * set the probes' constants to values of the kernel's enumerators; no version is compared.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "recorder.h"

/* Any function that no other probe attaches to. */
#define TRIED "blkdev_issue_flush"

/*
 * Attach an empty program to a function. arm64 supports this from Linux 6.4 on, with ftrace;
 * before, the program loads but does not attach.
 */
static int can_attach(int function)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (__u32)function);
	int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "trial", "GPL", nothing,
				    sizeof(nothing) / sizeof(nothing[0]), &options);
	if (program < 0)
		return 0;
	int link = bpf_raw_tracepoint_open(NULL, program);
	if (link >= 0)
		close(link);
	close(program);
	return link >= 0;
}

static struct btf *types_of_kernel(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	if (!types)
		fail("the kernel's types (CONFIG_DEBUG_INFO_BTF): %s", why());
	return types;
}

int can_fentry(void)
{
	static const char *const called[] = {"bpf_rdonly_cast", "bpf_iter_num_new"};
	struct btf *types = types_of_kernel();
	int can = 1;
	for (size_t i = 0; can && i < sizeof(called) / sizeof(called[0]); i++)
		can = btf__find_by_name_kind(types, called[i], BTF_KIND_FUNC) > 0;
	if (can) {
		int function = btf__find_by_name_kind(types, TRIED, BTF_KIND_FUNC);
		can = function > 0 && can_attach(function);
	}
	btf__free(types);
	return can;
}

/* Return an enumerator's value, -1 if there is none of that name. */
static long number_of(const struct btf *types, const char *name)
{
	for (__u32 id = 1; id < btf__type_cnt(types); id++) {
		const struct btf_type *type = btf__type_by_id(types, id);
		if (!btf_is_enum(type))
			continue;
		for (int i = 0; i < btf_vlen(type); i++)
			if (!strcmp(btf__name_by_offset(types, btf_enum(type)[i].name_off), name))
				return btf_enum(type)[i].val;
	}
	return -1;
}

/* Return an enumerator's value in a module, -1 if the kernel does not have the module. */
static long number_in(const char *module, const char *name)
{
	char path[128];
	struct btf *kernel = types_of_kernel(), *own = NULL;
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	if (!access(path, R_OK) && !(own = btf__load_module_btf(module, kernel)))
		fail("%s: %s", path, why());
	/* the types of a built-in module are among the kernel's */
	long number = number_of(own ? own : kernel, name);
	if (own && number < 0)
		fail("%s: it has no %s", path, name);
	btf__free(own);
	btf__free(kernel);
	return number;
}

void set_constants(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	const struct btf *types = bpf_object__btf(object);
	if (!map)
		return;
	size_t size;
	char *content = bpf_map__initial_value(map, &size);
	const struct btf_type *section = btf__type_by_id(
		types, (__u32)btf__find_by_name_kind(types, ".rodata", BTF_KIND_DATASEC));
	for (int i = 0; i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *place = &btf_var_secinfos(section)[i];
		const struct btf_type *variable = btf__type_by_id(types, place->type);
		char module[64];
		snprintf(module, sizeof(module), "%s",
			 btf__name_by_offset(types, variable->name_off));
		char *name = strstr(module, "__");
		if (!name || place->size != sizeof(__u64))
			continue;
		*name = '\0';
		long number = number_in(module, name + strlen("__"));
		if (number >= 0)
			memcpy(content + place->offset, &(__u64){(__u64)number}, sizeof(__u64));
	}
}
