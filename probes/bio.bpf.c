// SPDX-License-Identifier: GPL-2.0-only
/*
 * bio.bpf.c - record the bios that filesystems submit, and the pages and files that they carry.
 *
 * block_bio_queue: a `bio` record for each submitted bio, and after each with data one `pages`
 * record for every run of consecutive pages of one mapping. A bio that is split later is recorded
 * once, as submitted.
 *
 * A page belongs to its mapping's host: a file, a directory, the block device, or an inode without
 * a file type in which a filesystem keeps its own blocks (model/filesystems/). A page without a
 * mapping is the kernel's (a journal's copy, a log's buffer) or direct I/O.
 *
 * F2FS's garbage collector moves a file's page by marking it dirty, and as being moved until its
 * write has ended (fs/f2fs/gc.c, move_data_page). The second mark is in the page's private word,
 * which is not a pointer if its lowest bit is set.
 */
#include "probe.h"

#define MAPPING_FLAGS 3	    /* anonymous, movable: no address_space */
#define NOT_POINTER 1	    /* fs/f2fs/f2fs.h: bit PAGE_PRIVATE_NOT_POINTER */
#define MAX_PAGES (1 << 21) /* more than a bio of 4 GiB has */

/*
 * Bit numbers that differ between kernels; the recorder sets them from BTF by the name
 * MODULE__ENUMERATOR. Without F2FS the bit is one that is never set together with the lowest.
 */
const volatile __u64 f2fs__PAGE_PRIVATE_ONGOING_MIGRATION = 63;
#define MOVING (NOT_POINTER | 1ULL << f2fs__PAGE_PRIVATE_ONGOING_MIGRATION)

/* Key of a run: it continues while the next page has the same mapping and the next index. */
struct place {
	__u64 mapping; /* 0: none */
	__u64 is_moved;
	__u64 index;
};

static __u64 serial;

/* Return the head of the compound page that a page belongs to, else the page. */
static __always_inline __u64 head_of(__u64 page)
{
	if (bpf_core_field_exists(struct page, compound_head)) {
		__u64 head = WORD(struct page, page, compound_head);
		return head & 1 ? head - 1 : page;
	}
	/* this can also be a mask for the page's address: no page has so high an address */
	__u64 info = WORD(struct page___info, page, compound_info);
	return !(info & 1) ? page : info >> 32 == 0xffffffff ? page & info : info - 1;
}

/* Return whether it is a slab page, which has other things in `mapping`. */
static __always_inline int is_slab(__u64 head)
{
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_slab))
		return FIELD(struct page, head, page_type) >> 24 ==
		       bpf_core_enum_value(enum pagetype, PGTY_slab);
	return FIELD(struct page, head, flags) >> bpf_core_enum_value(enum pageflags, PG_slab) & 1;
}

/* Return the mapping and index of a page. */
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
 * Begin the record of a run of a bio's pages. Returns the record and its place in the ring, and
 * the head with which to finish it; NULL when the ring is full.
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
 * A CPU's position in a bio. Not on the stack: the verifier would follow its values through every
 * iteration or, with bpf_loop before Linux 6.7, through none, and assume them unchanged after the
 * loop. One per CPU suffices, as a probe does not run within itself.
 */
#define CPUS 512
static struct walk {
	struct place last;
	__u64 vector, page, head;
	__u32 bytes, pages, runs; /* left; of the vector left; begun */
	__u32 done;		  /* of the first vector, by a bio that this one was split from */
	/* by kprobe: places of the bio's record and of its last run's, or NONE */
	__u32 bio, run, tid;
} walks[CPUS];
#define NONE (~0U)

static __always_inline struct walk *own_walk(void)
{
	return &walks[bpf_get_smp_processor_id() & (CPUS - 1)];
}

/* Add the bio's next page to the run, or begin a new one; return 0 at the end of the bio. */
static __always_inline int take_page(struct walk *walk, const struct record *bio, __u32 tid,
				     struct record **run, __u32 *where)
{
	if (!walk->pages) {
		__u64 vector = walk->vector;
		if (!walk->bytes)
			return 0;
		__u64 extent = PAIR(struct bio_vec, vector, bv_len, bv_offset);
		__u64 offset = (extent >> 32) + walk->done, first = offset >> PAGE_SHIFT;
		__u32 length = (__u32)extent - walk->done;
		if (length > walk->bytes)
			length = walk->bytes;
		walk->done = 0;
		__u64 end = offset + length + PAGE_SIZE - 1;
		walk->pages = (end >> PAGE_SHIFT) - first;
		walk->page = WORD(struct bio_vec, vector, bv_page) +
			     first * bpf_core_type_size(struct page);
		walk->vector = vector + bpf_core_type_size(struct bio_vec);
		walk->bytes -= length;
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

/* Emit records for all pages of a bio, whose record is in place `where`; return their number. */
static __always_inline __u32 emit_pages(const struct record *record, __u32 where, __u32 tid,
					struct bio *bio)
{
	struct walk *walk = own_walk();
	struct record *run = NULL;

	/* The rest of a bio that was split begins within its vectors. Read from memory again, their
	 * address is a number; to a pointer Linux 6.1's verifier adds no product. */
	walk->vector = (__u64)bio->bi_io_vec;
	*(volatile __u64 *)&walk->vector +=
		bio->bi_iter.bi_idx * bpf_core_type_size(struct bio_vec);
	walk->done = bio->bi_iter.bi_bvec_done;
	/* a copy of a bio has its vectors, but not their number */
	walk->bytes = record->n << 9;
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
	/* reserved before its pages: the bio's record has their number */
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
	if (size && (operation <= REQ_OP_WRITE || operation == REQ_OP_ZONE_APPEND)) {
		__u64 vector = (__u64)bio->bi_io_vec;

		/* most of a filesystem's are of one page */
		if (size == PAGE_SIZE && !bio->bi_iter.bi_idx && !bio->bi_iter.bi_bvec_done &&
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
