/* Writes the member `clock` of config.json: the run's clocks, and the time of a CPU instruction,
 * measured by a loop of known length. If the board's clock counts instructions, it is its unit. */
#include "instruction.h"

#include "clock.h"

/* Much longer than reading the clock, 60 instructions, and shorter than the kernel's tick of 4 ms:
 * at 8 ns per instruction a try takes 0.8 ms. So the shortest try contains no tick. */
enum { TRIES = 8, ROUNDS = 50000, INSTRUCTIONS_A_ROUND = 2, PICOSECONDS_A_NANOSECOND = 1000 };

#ifdef __aarch64__
static void execute(uint64_t rounds)
{
	__asm__ volatile("1:	subs %0, %0, #1\n"
			 "	b.ne 1b"
			 : "+r"(rounds)
			 :
			 : "cc");
}

static int64_t instruction_ps(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = clock_now(), took;

		execute(ROUNDS);
		took = clock_now() - begin;
		if (took < least)
			least = took;
	}
	return (int64_t)(least * PICOSECONDS_A_NANOSECOND / (ROUNDS * INSTRUCTIONS_A_ROUND));
}
#else
static int64_t instruction_ps(void)
{
	return -1;
}
#endif

void instruction_write(struct json *json, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	int64_t picoseconds = instruction_ps();

	json_begin(json, "clock", '{');
	json_number(json, "monotonic_ns", (int64_t)monotonic_ns);
	json_number(json, "realtime_ns", (int64_t)realtime_ns);
	if (picoseconds >= 0)
		json_number(json, "instruction_ps", picoseconds);
	json_end(json, '}');
}
