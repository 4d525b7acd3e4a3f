/* What the log's bytes are on (enum ssl_medium). */
#ifndef COMMITPATH_SSL_MEDIUM_H
#define COMMITPATH_SSL_MEDIUM_H

#include "state.h"

/* Maps the log's file, where it is to be. */
int medium_map(struct ssl *ssl);
void medium_unmap(struct log *log);

int medium_write(struct ssl *ssl, const void *data, size_t size, int64_t offset);

/* Makes what was written there durable. */
int medium_persist(struct ssl *ssl, size_t size, int64_t offset);

#endif
