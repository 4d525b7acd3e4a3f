/* Two threads compute the first CRC32C sums of the process at once: each must be RFC 3720's. */
#include <pthread.h>
#include <stdlib.h>

#include "bytes.h"

/* of bytes.c, which needs no more of SQLite */
void *sqlite3_realloc64(void *old, unsigned long long size);
void sqlite3_free(void *old);

void *sqlite3_realloc64(void *old, unsigned long long size)
{
	return realloc(old, size);
}

void sqlite3_free(void *old)
{
	free(old);
}

static void *add_up(void *wrong)
{
	static const uint8_t zeros[32];

	*(bool *)wrong = crc32c(0, zeros, sizeof(zeros)) != 0x8a9136aa;
	return NULL;
}

int main(void)
{
	bool wrong[2] = {true, true};
	pthread_t other;

	if (pthread_create(&other, NULL, add_up, &wrong[0]) != 0)
		return 2;
	add_up(&wrong[1]);
	pthread_join(other, NULL);
	return wrong[0] || wrong[1];
}
