/* Finds the real libsqlite3 functions behind the preload's wrappers, by dlsym and dladdr: those
 * that the calling object would have got without it. */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#include "library.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define FUNCTION(result, name, parameters) "sqlite3_" #name,
#include "functions.h"
#undef FUNCTION
};
#define FUNCTIONS (sizeof(names) / sizeof(names[0]))
#define WATCHED (offsetof(struct library, stmt_busy) / sizeof(function))
#define RECORDED (offsetof(struct library, prepare_v3) / sizeof(function))

/* A call site, and the functions that it gets. */
struct caller {
	void *address;
	struct library *library;
};

static struct caller *_Atomic callers[1024];
static struct library *_Atomic shared; /* for every caller, if it is in the global scope */
static struct library *_Atomic any;

/* Returns the functions reachable from a dlopen handle, NULL if it does not lead to SQLite. */
static struct library *find_in(void *handle)
{
	struct library *found = dlsym(handle, names[0]) ? malloc(sizeof(*found)) : NULL;

	if (found == NULL)
		return NULL;
	found->has_all = found->has_recorded = true;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		void *address = dlsym(handle, names[i]);

		memcpy((char *)found + i * sizeof(address), &address, sizeof(address));
		found->has_recorded = found->has_recorded && (address || i >= RECORDED);
		found->has_all = found->has_all && (address || i >= WATCHED);
	}
	return found;
}

/* Returns the functions that a caller would have got without this library: from the global scope,
 * else from its own object and that object's dependencies. */
static struct library *find(void *address)
{
	struct library *found = find_in(RTLD_NEXT);
	void *handle = NULL;
	Dl_info info;

	if (found)
		return shared = any = found;
	if (dladdr(address, &info) && info.dli_fname)
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		found = find_in(handle);
	/* an extension gets SQLite's functions as a table of addresses */
	if (found == NULL)
		found = any;
	if (found == NULL) {
		fprintf(stderr, "commitpath: %s calls SQLite, and none can be found for it\n",
			handle ? info.dli_fname : "something");
		abort();
	}
	return any = found;
}

struct library *library_of(void *address)
{
	size_t first = ((uintptr_t)address >> 2) % 1024;
	struct caller *caller;
	struct library *found = shared;

	if (found)
		return found;
	for (size_t i = 0; i < 8; i++) {
		struct caller *_Atomic *place = &callers[(first + i) % 1024];

		caller = *place;
		if (caller == NULL) {
			struct caller *none = NULL;

			found = find(address);
			caller = malloc(sizeof(*caller));
			if (caller == NULL)
				return found;
			*caller = (struct caller){address, found};
			if (!atomic_compare_exchange_strong(place, &none, caller))
				free(caller);
			return found;
		}
		if (caller->address == address)
			return caller->library;
	}
	return find(address);
}

bool library_holds(void *address)
{
	Dl_info info, of;
	void *handle, *step = NULL;

	if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
		return false;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		step = dlsym(handle, names[0]);
		dlclose(handle);
	}
	return step && dladdr(step, &of) && of.dli_fbase == info.dli_fbase;
}
