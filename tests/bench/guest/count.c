/*
 * count.c - a QEMU plugin: how often did the guest execute each block of instructions, from the
 * first transaction to the end of the last?
 *
 * -plugin count.so,out=FILE,transaction=ADDRESS,phase=ADDRESS. The addresses are those of the
 * driver's marks commitpath_tx_begin and commitpath_phase (workloads/marks.c) on the board. FILE
 * gets the number of transactions, then a line for each block: address in hex, instructions,
 * executions.
 *
 * The plugin interface is stable and small, and Debian packages no header for it; these are
 * QEMU's include/qemu/qemu-plugin.h, version 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
typedef void (*translation_call)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*execution_call)(unsigned int cpu, void *data);
typedef void (*exit_call)(qemu_plugin_id_t id, void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translation_call call);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, execution_call call,
						 int flags, void *data);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation,
						     void *number, uint64_t value);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_call call, void *data);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);

#define EXPORT __attribute__((visibility("default")))
#define ADD 0	    /* QEMU_PLUGIN_INLINE_ADD_U64 */
#define REGISTERS 0 /* QEMU_PLUGIN_CB_NO_REGS */
#define BLOCKS (1 << 22)

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

static struct block {
	uint64_t address, instructions, executed, at_begin, at_end;
} blocks[BLOCKS];
static size_t used;
static uint64_t transaction_mark, phase_mark, transactions;
static const char *out;
static int since_phase, in_driver;

static void transaction_begins(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!in_driver)
		return;
	for (size_t i = 0; transactions == 0 && i < used; i++)
		blocks[i].at_begin = blocks[i].executed;
	transactions++;
	since_phase = 1;
}

static void phase_begins(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	for (size_t i = 0; since_phase && i < used; i++)
		blocks[i].at_end = blocks[i].executed;
	since_phase = 0;
	in_driver = 1;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	struct block *at = &blocks[used];

	(void)id;
	if (used == BLOCKS) {
		fputs("count.c: more blocks than it has places for\n", stderr);
		_exit(1);
	}
	used++;
	at->address = qemu_plugin_tb_vaddr(block);
	at->instructions = qemu_plugin_tb_n_insns(block);
	/* Other programs have the same addresses, but a mark is one instruction, its return; and
	 * the first transaction comes after a phase. */
	if (at->address == transaction_mark && at->instructions == 1)
		qemu_plugin_register_vcpu_tb_exec_cb(block, transaction_begins, REGISTERS, NULL);
	if (at->address == phase_mark && at->instructions == 1)
		qemu_plugin_register_vcpu_tb_exec_cb(block, phase_begins, REGISTERS, NULL);
	qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &at->executed, 1);
}

static void write_counts(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (file == NULL) {
		perror(out);
		_exit(1);
	}
	fprintf(file, "%" PRIu64 "\n", transactions);
	for (struct block *at = blocks; at < blocks + used; at++) {
		if (at->at_end > at->at_begin)
			fprintf(file, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", at->address,
				at->instructions, at->at_end - at->at_begin);
	}
	fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=') + 1;

		if (argv[i][0] == 'o')
			out = value;
		else if (argv[i][0] == 't')
			transaction_mark = strtoull(value, NULL, 0);
		else
			phase_mark = strtoull(value, NULL, 0);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, write_counts, NULL);
	return 0;
}
