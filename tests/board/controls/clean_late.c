/* A log in persistent memory that cleans the lines of what it wrote when it writes again: what is
 * acknowledged is in the CPU's cache alone (tests/board/test_controls.py). */
#include <stdbool.h>

#include "state.h"

int __real_medium_persist(struct ssl *ssl, size_t size, int64_t offset);
int __wrap_medium_persist(struct ssl *ssl, size_t size, int64_t offset);

int __wrap_medium_persist(struct ssl *ssl, size_t size, int64_t offset)
{
	static size_t last_size;
	static int64_t last_offset;
	int result = SQLITE_OK;

	if (last_size > 0)
		result = __real_medium_persist(ssl, last_size, last_offset);
	last_size = size;
	last_offset = offset;
	return result;
}
