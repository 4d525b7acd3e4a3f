/* Reads the memory of the driver's process (peak, resident, …) from /proc/self/status between two
 * phases, and writes it to config.json after them. */
#pragma once

#include "json.h"

/* Opens the file, so that reading it later allocates nothing. */
void process_memory_prepare(void);

/* Reads the file into memory. */
void process_memory_read(void);

/* Writes what was read as the member `memory`, in bytes. A number that the kernel does not have is
 * left out. */
void process_memory_write(struct json *json);
