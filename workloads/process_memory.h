/* The memory of the driver's process, engine included, as /proc/self/status has it. */
#pragma once

#include "json.h"

/* Opens the file, so that reading it later allocates nothing. */
void process_memory_prepare(void);

/* Reads it. */
void process_memory_read(void);

/* Writes what was read as the member `memory`, in bytes. A number that the kernel does not have is
 * left out. */
void process_memory_write(struct json *json);
