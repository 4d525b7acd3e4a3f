/* Reports calls to an observer. */
#include "state.h"

uint64_t observed_now(const struct ssl *ssl)
{
	return ssl->options.observer != NULL ? ssl->options.observer->now() : 0;
}

int observed_keep(struct ssl *ssl, const uint8_t *data, int size, int64_t offset)
{
	uint64_t begin = observed_now(ssl);
	int result = memory_write(&ssl->memory, data, size, offset);

	/* a frame's header; its page comes next */
	if (result == SQLITE_OK && ssl->options.observer != NULL && size == FRAME_HEADER)
		ssl->options.observer->kept(ssl->options.observed, begin, offset,
					    ssl->memory.page_size, get32be(data));
	return result;
}
