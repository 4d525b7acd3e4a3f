/* Enlarges a heap array by doubling, until it has room for so many elements. */
#pragma once

#include <stddef.h>

/* Returns an array moved to where it has room for `count` elements of `each` bytes. `room`: for how
 * many it has room, 0 of NULL. Without memory for it, ends the process: `what` is in the message.
 */
void *grown(void *array, size_t count, size_t *room, size_t each, const char *what);
