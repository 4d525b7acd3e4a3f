/* Writes bytes to the log and makes them durable, by its medium (enum ssl_medium): a file with
 * fdatasync, a mapped file with msync, or persistent memory by cleaning cache lines and waiting as
 * long as configured for each. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/mman.h>

#include "state.h"
#include "ticks.h"

enum { CACHE_LINE = 64 };

static void *map_file(struct ssl *ssl, int fd)
{
	size_t size = (size_t)ssl->log.size;
	bool is_pcm = ssl->options.medium == SSL_PCM;
	void *map = MAP_FAILED;

	/* On DAX the filesystem has nothing left to write after a line is cleaned. */
	if (is_pcm)
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd,
			   0);
	if (map == MAP_FAILED && (!is_pcm || (ssl->options.left_out & SSL_ANY_MEMORY) != 0))
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED && is_pcm && ssl->error != NULL)
		error_set(ssl->error,
			  "%s is not in persistent memory: it cannot be mapped with MAP_SYNC (%s)",
			  ssl->log_path, strerror(errno));
	return map;
}

int medium_map(struct ssl *ssl)
{
	void *map;
	int fd;

	if (ssl->options.medium == SSL_FDATASYNC)
		return SQLITE_OK;
	fd = open(ssl->log_path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return SQLITE_CANTOPEN;
	map = map_file(ssl, fd);
	close(fd);
	if (map == MAP_FAILED)
		return SQLITE_IOERR;
	ssl->log.map = map;
	return SQLITE_OK;
}

void medium_unmap(struct log *log)
{
	if (log->map != NULL)
		munmap(log->map, (size_t)log->size);
	log->map = NULL;
}

/* proc_pid_smaps(5): a mapping's line with its first address, and further below its flags. */
bool medium_is_synchronous(const struct ssl *ssl)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long first, last;
	bool ours = false, is = false;
	char line[512];

	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
			ours = first == (unsigned long)(uintptr_t)ssl->log.map;
		else if (ours && strncmp(line, "VmFlags:", 8) == 0)
			is = strstr(line, " sf") != NULL;
	fclose(file);
	return is;
}

int medium_write(struct ssl *ssl, const void *data, size_t size, int64_t offset)
{
	uint64_t begin = observed_now(ssl);

	if (ssl->log.map == NULL)
		return file_write(ssl->log.file, data, (int64_t)size, offset);
	memcpy(ssl->log.map + offset, data, size);
	if (ssl->options.observer != NULL)
		ssl->options.observer->copied(ssl->options.observed, begin, data, offset,
					      (int64_t)size);
	return SQLITE_OK;
}

#if defined(__aarch64__)
/* HWCAP_DCPOP of the kernel's asm/hwcap.h: the CPU can clean a line to the point of persistence. */
enum { HAS_DC_CVAP = 1 << 16 };

static bool cleans_to_persistence(void)
{
	return (getauxval(AT_HWCAP) & HAS_DC_CVAP) != 0;
}

/* CTR_EL0 has the smallest line of the data caches, as a power of two of words. */
static int64_t cache_line(void)
{
	uint64_t type;

	__asm__("mrs %0, ctr_el0" : "=r"(type));
	return 4 << (type >> 16 & 15);
}

static void clean_lines(const uint8_t *line, const uint8_t *end, int64_t step)
{
	if (cleans_to_persistence())
		for (; line < end; line += step)
			/* dc cvap, which compilers for Armv8.0 do not know */
			__asm__ volatile("sys #3, c7, c12, #1, %0" : : "r"(line) : "memory");
	else
		for (; line < end; line += step)
			__asm__ volatile("dc cvac, %0" : : "r"(line) : "memory");
	__asm__ volatile("dsb sy" : : : "memory");
}

const char *medium_clean(void)
{
	return cleans_to_persistence() ? "dc cvap" : "dc cvac";
}

/* Busy-waits for that many rounds. */
static void idle(uint64_t rounds)
{
	__asm__ volatile("1:	subs %0, %0, #1\n"
			 "	b.hi 1b"
			 : "+r"(rounds)
			 :
			 : "cc");
}
#elif defined(__x86_64__)
static int64_t cache_line(void)
{
	return CACHE_LINE;
}

static void clean_lines(const uint8_t *line, const uint8_t *end, int64_t step)
{
	for (; line < end; line += step)
		__asm__ volatile("clflush %0" : : "m"(*line) : "memory");
	__asm__ volatile("mfence" : : : "memory");
}

const char *medium_clean(void)
{
	return "clflush";
}

static void idle(uint64_t rounds)
{
}
#else
#error "no way is known to clean a cache line of this CPU"
#endif

/* Busy-waits, as a CPU that waits for memory cannot do other work. Each step waits for part of the
 * rest: reading the counter takes an emulator longer than everything else. */
static void wait_for(struct ssl *ssl, int64_t ns)
{
	uint64_t hertz = ticks_frequency(), begin = ticks_now(), now = begin;
	uint64_t until = begin + ((uint64_t)ns * hertz - 1) / NANOSECONDS_PER_SECOND + 1;

	for (; now < until; now = ticks_now())
		idle((until - now) / 2);
	ssl->stats.pcm_ns += ns;
	ssl->stats.pcm_waited_ns += (int64_t)((now - begin) * NANOSECONDS_PER_SECOND / hertz);
}

static void persist_lines(struct ssl *ssl, size_t size, int64_t offset)
{
	int64_t line = ssl->options.line, step = cache_line(), end = offset + (int64_t)size;
	int64_t lines = (end - 1) / line - offset / line + 1;
	uint64_t begin = observed_now(ssl);

	clean_lines(ssl->log.map + offset - offset % step, ssl->log.map + end, step);
	ssl->stats.log_lines += lines;
	ssl->stats.pcm_bytes += (int64_t)size;
	if (ssl->options.write_ns > 0)
		wait_for(ssl, lines * ssl->options.write_ns);
	if (ssl->options.observer != NULL)
		ssl->options.observer->cleaned(ssl->options.observed, begin, offset, (int64_t)size);
}

int medium_persist(struct ssl *ssl, size_t size, int64_t offset)
{
	int64_t first;
	uint64_t begin;
	int result;

	if (ssl->log.map != NULL && ssl->options.medium == SSL_PCM) {
		persist_lines(ssl, size, offset);
		return SQLITE_OK;
	}
	ssl->stats.log_syncs++;
	if (ssl->log.map == NULL)
		return ssl->log.file->pMethods->xSync(ssl->log.file,
						      SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
	begin = observed_now(ssl);
	/* some kernels of arm64 have pages of 16 or 64 KiB */
	first = offset - offset % sysconf(_SC_PAGESIZE);
	result = msync(ssl->log.map + first, size + (size_t)(offset - first), MS_SYNC) == 0
			 ? SQLITE_OK
			 : SQLITE_IOERR_FSYNC;
	if (ssl->options.observer != NULL)
		ssl->options.observer->synced(ssl->options.observed, begin, result);
	return result;
}
