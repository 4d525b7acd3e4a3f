/* Does to files, and tells workloads/written.h, what stdin says, a line each; then says what
 * bytes.h finds of them: zero and stale sectors.
 *
 *   open PATH | write PATH OFFSET SIZE BYTE | truncate PATH SIZE | delete PATH
 *   save PATH | look PATH
 */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trials/board.h"
#include "trials/bytes.h"
#include "written.h"

void board_counts(const char *path, struct board_counts *counts)
{
	*counts = (struct board_counts){0, 0, 0};
}

static void put(const char *path, int64_t offset, int64_t size, int byte)
{
	int descriptor = open(path, O_WRONLY);
	char *bytes = malloc((size_t)size);

	assert(descriptor >= 0 && bytes != NULL);
	memset(bytes, byte, (size_t)size);
	assert(pwrite(descriptor, bytes, (size_t)size, offset) == size);
	written_write(written_open(path), bytes, size, offset);
	close(descriptor);
	free(bytes);
}

static void look(const char *path)
{
	struct bytes bytes;

	bytes_prepare(path);
	bytes_look(&bytes, NULL);
	printf("%d %" PRIu64 " %" PRIu64 "\n", bytes.known, bytes.zero, bytes.stale);
}

int main(void)
{
	char line[1024], path[512];
	int64_t a, b;
	int byte;

	written_begin();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "open %511s", path) == 1) {
			close(open(path, O_WRONLY | O_CREAT, 0600));
			assert(written_open(path) != NULL);
		} else if (sscanf(line, "write %511s %" SCNd64 " %" SCNd64 " %d", path, &a, &b,
				  &byte) == 4) {
			put(path, a, b, byte);
		} else if (sscanf(line, "truncate %511s %" SCNd64, path, &a) == 2) {
			assert(truncate(path, a) == 0);
			written_truncate(written_open(path), a);
		} else if (sscanf(line, "delete %511s", path) == 1) {
			assert(unlink(path) == 0);
			written_delete(path);
		} else if (sscanf(line, "save %511s", path) == 1) {
			written_save(path);
		} else if (sscanf(line, "look %511s", path) == 1) {
			look(path);
		} else {
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
