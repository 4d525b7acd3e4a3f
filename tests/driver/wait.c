/* Calls clock_wait_until with a clock_nanosleep that is interrupted twice and then returns argv[1];
 * prints how often it was called.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "output.h"

static int calls, last;

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left)
{
	return ++calls <= 2 ? EINTR : last;
}

void output_abandon(void)
{
}

int main(int argc, char **argv)
{
	last = argc > 1 ? atoi(argv[1]) : 0;
	clock_wait_until(5);
	printf("%d calls\n", calls);
	return EXIT_SUCCESS;
}
