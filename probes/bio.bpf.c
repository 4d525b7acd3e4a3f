// SPDX-License-Identifier: GPL-2.0-only
/*
 * bio.bpf.c - what does each write carry: which pages of which files, handed in by whom?
 *
 * block_bio_queue: a `bio` record for each bio that a filesystem hands to the block layer, and
 * behind the record of a write one `pages` record for each run of pages that follow each other
 * in one mapping. A bio that the block layer splits later is recorded once, as it was handed in.
 *
 * A page's owner is its mapping's host: a file, a directory, the block device, or an inode that is
 * none of these, without a file type, in whose pages a filesystem keeps blocks of its own
 * (analysis/filesystems/ knows them). A page with no mapping is the kernel's own (a journal's
 * copy, a log's buffer), or direct I/O's.
 *
 * F2FS's garbage collector moves a page of a file by marking it: dirty, and as one that is being
 * moved, until its write has ended (fs/f2fs/gc.c, move_data_page). The second mark is in the
 * page's private word, which has its lowest bit set only where it is no pointer.
 */
#include "probe.h"

#define MAPPING_FLAGS 3	    /* anonymous, movable: no address_space */
#define NOT_POINTER 1	    /* fs/f2fs/f2fs.h: bit PAGE_PRIVATE_NOT_POINTER */
#define MAX_PAGES (1 << 21) /* more than a bio of 4 GiB has */

/*
 * The number of a bit, another one from kernel to kernel, which the recorder looks up: the name is
 * MODULE__ENUMERATOR. Where there is no F2FS it is one that none has who has the lowest.
 */
const volatile __u64 f2fs__PAGE_PRIVATE_ONGOING_MIGRATION = 63;
#define MOVING (NOT_POINTER | 1ULL << f2fs__PAGE_PRIVATE_ONGOING_MIGRATION)

/* What a run is of: a run goes on as long as the next page has the same, and the next index. */
struct place {
	__u64 mapping; /* 0: none */
	__u64 is_moved;
	__u64 index;
};

static __u64 serial;

/* The first page of the compound page that a page is of, if it is. */
static __always_inline __u64 head_of(__u64 page)
{
	if (bpf_core_field_exists(struct page, compound_head)) {
		__u64 head = WORD(struct page, page, compound_head);
		return head & 1 ? head - 1 : page;
	}
	/* a mask for the page's address is that, too: no page is that high */
	__u64 info = WORD(struct page___info, page, compound_info);
	return !(info & 1) ? page : info >> 32 == 0xffffffff ? page & info : info - 1;
}

/* Whether it has other things in `mapping`. */
static __always_inline int is_slab(__u64 head)
{
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_slab))
		return FIELD(struct page, head, page_type) >> 24 ==
		       bpf_core_enum_value(enum pagetype, PGTY_slab);
	return FIELD(struct page, head, flags) >> bpf_core_enum_value(enum pageflags, PG_slab) & 1;
}

/* The mapping and index of a page. */
static __always_inline struct place place_of(__u64 page)
{
	struct place place = {};
	__u64 head = head_of(page), mapping = WORD(struct page, head, mapping);
	if (!mapping || mapping & MAPPING_FLAGS || is_slab(head))
		return place;
	place.mapping = mapping;
	__u64 private = FIELD(struct page, head, private);
	place.is_moved = private & NOT_POINTER && (private & MOVING) == MOVING;
	place.index = FIELD(struct folio, head, index);
	if (head != page)
		place.index += (page - head) / bpf_core_type_size(struct page);
	return place;
}

/*
 * Begin the record of a run of a bio's pages, with one page. Gives its head, which finishes it,
 * and its place in the ring; NULL when that is full.
 */
static __always_inline struct record *begin_run(const struct record *bio, __u32 tid,
						const struct place *page, __u64 *head, __u32 *where)
{
	__u64 owner = OWNER_NONE, inode = 0, generation = 0;
	struct record *run = reserve_at(where);
	if (!run)
		return NULL;
	if (page->mapping) {
		__u64 host = WORD(struct address_space, page->mapping, host);
		__u32 kind = FIELD(struct inode, host, i_mode) & S_IFMT;
		owner = kind == S_IFREG	  ? page->is_moved ? OWNER_MOVED : OWNER_FILE
			: kind == S_IFDIR ? OWNER_DIRECTORY
			: kind == S_IFBLK ? OWNER_DEVICE
					  : OWNER_OTHER;
		inode = FIELD(struct inode, host, i_ino);
		generation = kind == S_IFBLK ? FIELD(struct inode, host, i_rdev)
					     : FIELD(struct inode, host, i_generation);
	}
	run->begin_ns = bio->begin_ns;
	run->end_ns = bio->begin_ns;
	run->dev = bio->dev;
	run->n = 1;
	run->a = inode;
	run->b = page->index;
	run->c = generation;
	run->d = bio->d;
	*head = RECORD_PAGES | owner << 16 | (__u64)tid << 32;
	return run;
}

/*
 * Where a CPU is in a bio. Not on the stack: the verifier would follow its values through every
 * turn of the loop, or (before Linux 6.7, of bpf_loop) through none, and take what they were before
 * for what they are after. A probe is not run within itself, so one for each CPU is enough.
 */
#define CPUS 512
static struct walk {
	struct place last;
	__u64 vector, page, head;
	__u32 vectors, pages, runs; /* left; of the vector left; begun */
	/* by kprobe: the places of the records of the bio and of its last run, NONE if it has none
	 */
	__u32 bio, run, tid;
} walks[CPUS];
#define NONE (~0U)

static __always_inline struct walk *own_walk(void)
{
	return &walks[bpf_get_smp_processor_id() & (CPUS - 1)];
}

/* The next page of a bio: of the run, or of a new one. Whether there was one. */
static __always_inline int take_page(struct walk *walk, const struct record *bio, __u32 tid,
				     struct record **run, __u32 *where)
{
	if (!walk->pages) {
		__u64 vector = walk->vector;
		if (!walk->vectors)
			return 0;
		__u64 extent = PAIR(struct bio_vec, vector, bv_len, bv_offset);
		__u64 offset = extent >> 32, first = offset >> PAGE_SHIFT;
		__u64 end = offset + (__u32)extent + PAGE_SIZE - 1;
		walk->pages = (end >> PAGE_SHIFT) - first;
		walk->page = WORD(struct bio_vec, vector, bv_page) +
			     first * bpf_core_type_size(struct page);
		walk->vector = vector + bpf_core_type_size(struct bio_vec);
		walk->vectors--;
	}
	struct place next = place_of(walk->page);
	walk->page += bpf_core_type_size(struct page);
	walk->pages--;
	walk->last.index++;
	if (*run && next.mapping == walk->last.mapping && next.is_moved == walk->last.is_moved &&
	    (!next.mapping || next.index == walk->last.index)) {
		(*run)->n++;
		return 1;
	}
	if (*run)
		finish(*run, walk->head);
	*run = begin_run(bio, tid, &next, &walk->head, where);
	walk->last = next;
	walk->runs++;
	return 1;
}

#ifdef BY_KPROBE
static __always_inline struct record *record_at(__u32 place)
{
	return place == NONE ? NULL : bpf_map_lookup_elem(&records, &place);
}

static long take_turn(__u32 turn, void *unused)
{
	struct walk *walk = own_walk();
	struct record *bio = record_at(walk->bio), *run = record_at(walk->run);
	__u32 where = walk->run;
	if (!bio || !take_page(walk, bio, walk->tid, &run, &where))
		return 1;
	walk->run = run ? where : NONE;
	return 0;
}
#endif

/* The records of all pages of a bio, whose own is in the place `where`; how many. */
static __always_inline __u32 emit_pages(const struct record *record, __u32 where, __u32 tid,
					struct bio *bio)
{
	struct walk *walk = own_walk();
	struct record *run = NULL;

	walk->vector = (__u64)bio->bi_io_vec;
	walk->vectors = bio->bi_vcnt;
	walk->pages = 0;
	walk->runs = 0;
#ifdef BY_KPROBE
	walk->bio = where;
	walk->run = NONE;
	walk->tid = tid;
	bpf_loop(MAX_PAGES, take_turn, NULL, 0);
	run = record_at(walk->run);
#else
	int i;
	bpf_for(i, 0, MAX_PAGES)
	{
		if (!take_page(walk, record, tid, &run, &where))
			break;
	}
#endif
	if (run)
		finish(run, walk->head);
	return walk->runs;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	struct task_struct *task = current();
	__u64 now = clock_ns();
	__u32 opf = bio->bi_opf, size = bio->bi_iter.bi_size, operation = opf & REQ_OP_MASK;
	__u32 tid = task->pid, runs = 0, where;

	name_thread(task, now);
	/* ahead of its pages: the bio's record says how many follow */
	struct record *record = reserve_at(&where);
	if (!record)
		return 0;
	record->begin_ns = now;
	record->end_ns = now;
	record->dev = bio->bi_bdev->bd_dev; /* a partition has its own; the sector is the disk's */
	record->n = size >> 9;
	record->a = bio->bi_iter.bi_sector;
	record->b = opf;
	record->c = 0;
	record->d = __sync_fetch_and_add(&serial, 1);
	if (size && (operation == REQ_OP_WRITE || operation == REQ_OP_ZONE_APPEND)) {
		__u64 vector = (__u64)bio->bi_io_vec;

		/* most writes of a filesystem are of one page */
		if (size == PAGE_SIZE &&
		    PAIR(struct bio_vec, vector, bv_len, bv_offset) == PAGE_SIZE) {
			__u64 head;
			__u32 first;
			struct place page = place_of(WORD(struct bio_vec, vector, bv_page));
			struct record *run = begin_run(record, tid, &page, &head, &first);
			if (run)
				finish(run, head);
			runs = 1;
		} else {
			runs = emit_pages(record, where, tid, bio);
		}
	}
	finish(record, RECORD_BIO | (__u64)runs << 16 | (__u64)tid << 32);
	return 0;
}
