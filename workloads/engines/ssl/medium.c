#include "medium.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/mman.h>

enum { PAGE = 4096 };

int medium_map(struct ssl *ssl)
{
	size_t size = (size_t)ssl->log.size;
	void *map = MAP_FAILED;
	int fd;

	if (ssl->options.medium == SSL_FDATASYNC)
		return SQLITE_OK;
	fd = open(ssl->log_path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return SQLITE_CANTOPEN;
	/* On DAX no write of the filesystem's own is left to do once a line is cleaned. */
	if (ssl->options.medium == SSL_PCM)
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd,
			   0);
	if (map == MAP_FAILED)
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
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

int medium_write(struct ssl *ssl, const void *data, size_t size, int64_t offset)
{
	uint64_t begin = observed_now(ssl);

	if (ssl->log.map == NULL)
		return file_write(ssl->log.file, data, (int64_t)size, offset);
	memcpy(ssl->log.map + offset, data, size);
	if (ssl->options.observer != NULL)
		ssl->options.observer->copied(begin, offset, (int64_t)size);
	return SQLITE_OK;
}

static void clean_line(const uint8_t *line)
{
#if defined(__aarch64__)
	__asm__ volatile("dc cvac, %0" : : "r"(line) : "memory");
#elif defined(__x86_64__)
	__asm__ volatile("clflush %0" : : "m"(*line) : "memory");
#else
	(void)line;
#endif
}

static void clean_lines(struct ssl *ssl, size_t size, int64_t offset)
{
	int64_t line = ssl->options.line, end = offset + (int64_t)size;

	for (offset -= offset % line; offset < end; offset += line) {
		clean_line(ssl->log.map + offset);
		ssl->stats.log_lines++;
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#if defined(__aarch64__)
	__asm__ volatile("dsb sy" : : : "memory");
#endif
}

int medium_persist(struct ssl *ssl, size_t size, int64_t offset)
{
	int64_t first = offset / PAGE * PAGE;
	uint64_t begin;
	int result;

	if (ssl->log.map != NULL && ssl->options.medium == SSL_PCM) {
		clean_lines(ssl, size, offset);
		return SQLITE_OK;
	}
	ssl->stats.log_syncs++;
	if (ssl->log.map == NULL)
		return ssl->log.file->pMethods->xSync(ssl->log.file,
						      SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
	begin = observed_now(ssl);
	result = msync(ssl->log.map + first, size + (size_t)(offset - first), MS_SYNC) == 0
			 ? SQLITE_OK
			 : SQLITE_IOERR_FSYNC;
	if (ssl->options.observer != NULL)
		ssl->options.observer->synced(begin, result);
	return result;
}
