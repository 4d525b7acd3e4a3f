/* The page log of SQLite/PPL: sectors of a fixed size in the log file, each with the change
 * records of one database page; how they are found, filled, emptied and written. */
#pragma once

#include "diff.h"
#include "state.h"

enum { LEAST_SECTOR = 64, LARGEST_SECTOR = 65536 };

/* Steps that can be left out (ssl_options.left_out) in addition to those of ssl.h, so that tests
 * show why they are needed. */
enum {
	PPL_COMMIT_UNASKED = 8, /* records count without their transaction's commit word */
	PPL_NOT_EMPTIED = 16,	/* sectors of merged pages are not emptied */
};

/* A number of records and the sum of their CRCs. */
struct tally {
	uint32_t records, checks;
};

struct sector {
	uint32_t page; /* 0: free */
	uint32_t used; /* bytes, including its header */
	uint32_t next; /* next sector in the same hash chain; number + 1 */
	uint64_t epoch;
	struct tally has;
};

struct page_log {
	uint32_t size, count; /* of a sector; of sectors */
	int64_t first;	      /* offset of the first */
	struct sector *sectors;
	uint32_t *heads; /* of hash chains, by page number modulo `count` */
	uint32_t *free;
	uint32_t free_count;
	uint64_t floor;	 /* epoch from which on a sector counts */
	uint64_t marked; /* checkpoint that the database's mark is of */
	uint64_t
		confirmed; /* transactions up to this one are committed, whatever their words say */
	struct tally of_confirmed; /* what the log has of these */
	struct tally has;	   /* all sectors */
	uint32_t database_size;	   /* pages, by the last commit word at opening; 0: by none */
	uint8_t *all;		   /* the log's content, while it is opened */
	bool writing;		   /* records of a transaction that is not confirmed */
	int64_t lowest, highest;   /* of what was written and not persisted */
};

/* sectors.c */
uint32_t sector_find(const struct page_log *pages, uint32_t page); /* number + 1; 0: none */
void sector_take(struct page_log *pages, uint32_t sector, uint32_t page, uint64_t epoch);
void sector_drop(struct page_log *pages, uint32_t sector);
void sectors_clear(struct page_log *pages);
/* One record more. */
void sector_count(struct page_log *pages, uint32_t sector, uint32_t check);
/* How many there are in a log of that size. */
uint32_t sectors_in(int64_t log_size, uint32_t size);
int sectors_make(struct page_log *pages, int64_t log_size, uint32_t size);
int64_t sector_offset(const struct page_log *pages, uint32_t sector);
void sectors_free(struct page_log *pages);

/* page_log.c. Writes without persisting; a run of them is persisted at once, line by line on
 * SSL_PCM. */
enum { SECTOR_HEADER = 16, RECORD_HEAD = 16, AT_WORD = 256 /* in a slot */, WORD = 24 };
int page_log_write(struct ssl *ssl, const void *data, size_t size, int64_t offset);
int page_log_persist(struct ssl *ssl);
/* Adds a record of the transaction that commits to its page's sector, which has room. */
int page_log_add(struct ssl *ssl, uint32_t page, const struct bytes *payload);
/* Writes the transaction's commit word and persists all: the transaction is durable then. */
int page_log_commit(struct ssl *ssl, uint32_t database_size);

/* Returns the mark that the header before the last one has, while the log is opened: that of a
 * database that the last complete checkpoint is not copied to yet. */
uint64_t page_log_marked_before(const struct ssl *ssl);

/* commit.c. Reads a page as it was last committed; `page` gets it. */
int page_before(struct ssl *ssl, uint32_t number, uint8_t *page);
