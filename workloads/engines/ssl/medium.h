/* The log's medium (enum ssl_medium): mapping it and making writes durable. */
#ifndef COMMITPATH_SSL_MEDIUM_H
#define COMMITPATH_SSL_MEDIUM_H

#include "state.h"

/* Maps the log's file if needed. SSL_PCM fails, with the reason in ssl->error, unless mapped with
 * MAP_SYNC: otherwise a cleaned line is not durable. */
int medium_map(struct ssl *ssl);
void medium_unmap(struct log *log);

/* Returns whether the log's mapping is synchronous (MAP_SYNC), according to the kernel. */
bool medium_is_synchronous(const struct ssl *ssl);

int medium_write(struct ssl *ssl, const void *data, size_t size, int64_t offset);

/* Makes what was written there durable. On SSL_PCM it returns when the lines' time has passed. */
int medium_persist(struct ssl *ssl, size_t size, int64_t offset);

/* Returns the instruction that cleans a cache line here to where it is durable. */
const char *medium_clean(void);

#endif
