/* In place of libbpf's header: the kernel's structures are those of probes/kernel.h. */
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_field_exists(type, field) 1
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_type_exists(type) 0
#define bpf_core_type_id_kernel(type) 0
#define bpf_core_enum_value_exists(type, value) 1
#define bpf_core_enum_value(type, value) 0xf5 /* of a slab's page */
