/* Ends the driver with one line when an engine's library crashes or aborts, as one that reads a
 * damaged file may. */
#pragma once

/* A check of the library failed: ends the process by SIGABRT. With fault_catch the driver prints
 * the text, in one line. */
_Noreturn void fault_abort(const char *text);

/* Ends the driver with one line and EXIT_RUN_FAILED when memory is accessed that is not there, or
 * the library gives up. `title` is the engine's. */
void fault_catch(const char *title);
