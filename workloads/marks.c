/* Empty functions that a uprobe hooks: they give an observer the transaction and the phase. */
#include "marks.h"

/* In a file of their own, so that no compiler sees where they are called
 * that they are empty. The Makefile exports them, so stripping keeps them. */
#define MARK __attribute__((noinline, visibility("default")))

MARK void commitpath_tx_begin(uint64_t number, const char *phase)
{
	__asm__ volatile("# tx_begin" : : "r"(number), "r"(phase) : "memory");
}

MARK void commitpath_tx_end(uint64_t number, const char *phase)
{
	__asm__ volatile("# tx_end" : : "r"(number), "r"(phase) : "memory");
}

MARK void commitpath_phase(const char *phase)
{
	__asm__ volatile("# phase" : : "r"(phase) : "memory");
}
