/* Replaces calls of a program at its link: the system has pages of 16 KiB. */
#define _GNU_SOURCE /* mmap's flags */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 16384 };

void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __real_msync(void *address, size_t size, int flags);
int __wrap_msync(void *address, size_t size, int flags);
long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE ? PAGE : __real_sysconf(name);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
	uintptr_t room;

	if (address != NULL || (flags & MAP_SHARED) == 0)
		return __real_mmap(address, size, protection, flags, file, offset);
	room = (uintptr_t)__real_mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				      0);
	address = (void *)((room + PAGE - 1) / PAGE * PAGE);
	return __real_mmap(address, size, protection, flags | MAP_FIXED, file, offset);
}

int __wrap_msync(void *address, size_t size, int flags)
{
	if ((uintptr_t)address % PAGE == 0)
		return __real_msync(address, size, flags);
	errno = EINVAL;
	return -1;
}
