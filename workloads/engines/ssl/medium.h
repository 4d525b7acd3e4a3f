/* What the log's bytes are on (enum ssl_medium). */
#ifndef COMMITPATH_SSL_MEDIUM_H
#define COMMITPATH_SSL_MEDIUM_H

#include "state.h"

/* Maps the log's file, where it is to be. SSL_PCM is refused, with what is wrong in ssl->error,
 * where the file is not mapped with MAP_SYNC: of no other is a line durable once it is cleaned. */
int medium_map(struct ssl *ssl);
void medium_unmap(struct log *log);

/* Whether the kernel says of the log's mapping that it is synchronous (MAP_SYNC). */
bool medium_is_synchronous(const struct ssl *ssl);

int medium_write(struct ssl *ssl, const void *data, size_t size, int64_t offset);

/* Makes what was written there durable. Of SSL_PCM it returns when the lines' time has passed. */
int medium_persist(struct ssl *ssl, size_t size, int64_t offset);

/* The instruction that cleans a cache line here, to where it is durable. */
const char *medium_clean(void);

#endif
