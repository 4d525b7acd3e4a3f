/* blktrace.preload.c - LD_PRELOAD library that makes Debian 13's blktrace lock no memory, and
 * request records of version 8.
 *
 * mlock() does nothing: blktrace maps and locks sixteen buffers of its output file at once
 * (setup_mmap() in blktrace.c). With buffers of 16 MiB the board would have to zero 256 MiB after
 * each run, 3.5 s of wall time. The file is in memory anyway.
 *
 * ioctl() requests records of version 8 if the kernel has them. Of version 7, which blktrace
 * requests, such kernels drop every record with FUA (__blk_add_trace() in kernel/trace/blktrace.c
 * takes `what >> BLK_TC_SHIFT > BLK_TC_END_V1` for a zone's operation, and FUA is BLK_TC_END_V1).
 * blktrace writes the records into its file unchanged.
 */
#include <errno.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/blktrace_api.h of Linux 6.19. */
struct setup2 {
	char name[64];
	__u64 act_mask;
	__u32 buf_size, buf_nr;
	__u64 start_lba, end_lba;
	__u32 pid, flags;
	__u64 reserved[11];
};
#define SETUP2 _IOWR(0x12, 142, struct setup2)

int mlock(const void *address, size_t length)
{
	(void)address, (void)length;
	return 0;
}

int ioctl(int file, unsigned long request, ...)
{
	va_list arguments;
	va_start(arguments, request);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);

	if (request == BLKTRACESETUP) {
		struct blk_user_trace_setup *setup_v7 = argument;
		struct setup2 setup = {
			.act_mask = setup_v7->act_mask,
			.buf_size = setup_v7->buf_size,
			.buf_nr = setup_v7->buf_nr,
			.start_lba = setup_v7->start_lba,
			.end_lba = setup_v7->end_lba,
			.pid = setup_v7->pid,
		};
		int result = (int)syscall(SYS_ioctl, file, SETUP2, &setup);
		if (result == 0)
			memcpy(setup_v7->name, setup.name, sizeof(setup_v7->name) - 1);
		/* an ioctl that the block layer does not know goes to the driver: SD cards
		 * and loop devices return EINVAL */
		if (result == 0 || (errno != ENOTTY && errno != EINVAL))
			return result;
	}
	return (int)syscall(SYS_ioctl, file, request, argument);
}
