/* Enlarges a heap array by doubling, until it has room for so many elements. */
#include "grow.h"

#include <stdlib.h>

#include "fail.h"

enum { LEAST_ROOM = 1 << 12 };

void *grown(void *array, size_t count, size_t *room, size_t each, const char *what)
{
	if (count <= *room)
		return array;
	if (*room == 0)
		*room = LEAST_ROOM;
	while (*room < count)
		*room *= 2;
	array = realloc(array, *room * each);
	if (array == NULL)
		fail("no memory for %zu %s", *room, what);
	return array;
}
