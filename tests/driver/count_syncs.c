/* Linked into the driver under test with the linker's --wrap: logs each sync
 * call, transaction and phase to the file that COMMITPATH_SYNC_LOG names, in
 * the order in which they happen. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int __real_fsync(int fd);
int __real_fdatasync(int fd);

static void log_line(const char *format, ...)
{
	static FILE *file;
	const char *path = getenv("COMMITPATH_SYNC_LOG");
	va_list arguments;

	if (path == NULL)
		return;
	if (file == NULL && (file = fopen(path, "w")) == NULL)
		abort();
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fflush(file);
}

int __wrap_fsync(int fd)
{
	log_line("sync\n");
	return __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
	log_line("sync\n");
	return __real_fdatasync(fd);
}

void __wrap_commitpath_tx_begin(uint64_t number, const char *phase)
{
	log_line("begin %" PRIu64 " %s\n", number, phase);
}

void __wrap_commitpath_tx_end(uint64_t number, const char *phase)
{
	log_line("end %" PRIu64 " %s\n", number, phase);
}

void __wrap_commitpath_phase(const char *phase)
{
	log_line("phase %s\n", phase);
}
