/* For LD_PRELOAD under blktrace, as Debian 13 has it.
 *
 * mlock() does nothing: blktrace maps and locks sixteen of its buffers of its output file at once
 * (setup_mmap() in blktrace.c), however little it is about to write. With buffers of 16 MiB the
 * board would have to zero 256 MiB after each run, 3.5 s of wall time. The file is in memory
 * anyway; its pages come as they are written.
 *
 * ioctl() asks for records of version 8 where the kernel has them: of those of version 7, which
 * blktrace asks for, kernels that have both leave out all with FUA (__blk_add_trace() in
 * kernel/trace/blktrace.c takes `what >> BLK_TC_SHIFT > BLK_TC_END_V1` for a zone's operation, and
 * FUA is BLK_TC_END_V1). What it gets blktrace writes into its file as it is.
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

/* Of linux/blktrace_api.h, from Linux 6.19 on. */
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
		struct blk_user_trace_setup *asked = argument;
		struct setup2 setup = {
			.act_mask = asked->act_mask,
			.buf_size = asked->buf_size,
			.buf_nr = asked->buf_nr,
			.start_lba = asked->start_lba,
			.end_lba = asked->end_lba,
			.pid = asked->pid,
		};
		int result = (int)syscall(SYS_ioctl, file, SETUP2, &setup);
		if (result == 0)
			memcpy(asked->name, setup.name, sizeof(asked->name) - 1);
		/* what the block layer does not know goes to the driver: an SD card's and a loop
		 * device's take it for a wrong argument */
		if (result == 0 || (errno != ENOTTY && errno != EINVAL))
			return result;
	}
	return (int)syscall(SYS_ioctl, file, request, argument);
}
