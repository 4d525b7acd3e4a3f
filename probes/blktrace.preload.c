/* For LD_PRELOAD under blktrace: mlock() that does nothing.
 *
 * blktrace maps and locks sixteen of its buffers of its output file at once (setup_mmap() in
 * blktrace.c), however little it is about to write. With buffers of 16 MiB the board would have
 * to zero 256 MiB after each run, 3.5 s of wall time. The file is in memory anyway; its pages
 * come as they are written.
 */
#include <sys/mman.h>

int mlock(const void *address, size_t length)
{
	(void)address, (void)length;
	return 0;
}
