/* Statements that a program executes by SQLite's own calls, on a connection that was adopted. */
#ifndef COMMITPATH_SSL_PLAIN_H
#define COMMITPATH_SSL_PLAIN_H

#include "state.h"

/* Records from now on what of them can be. */
int plain_connect(struct ssl *ssl);

#endif
