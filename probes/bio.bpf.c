/*
 * bio.bpf.c - what does each write carry: which pages of which files, handed in by whom?
 *
 * block_bio_queue: a `bio` record for each bio that a filesystem hands to the block layer, and
 * behind the record of a write one `pages` record for each run of pages that follow each other
 * in one mapping. A bio that the block layer splits later is recorded once, as it was handed in.
 *
 * A page's owner is its mapping's host: a file, a directory, the block device (ext4's metadata
 * and its journal's descriptors), or an inode that is none of these (F2FS keeps its nodes in
 * the pages of inode 1 and SIT, NAT and checkpoint in those of inode 2, without a file type). A
 * page with no mapping is the kernel's own (a copy that jbd2 made), or direct I/O's.
 *
 * F2FS's garbage collector moves a page of a file by marking it: dirty, and as one that is being
 * moved, until its write has ended (fs/f2fs/gc.c, move_data_page). The second mark is in the
 * page's private word, which has its lowest bit set only where it is no pointer.
 */
#include "probe.h"

void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym;
#define AT(type, address) \
	((type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(type)))
/* A pointer as a number: the verifier lets nobody calculate with what BTF calls a pointer. */
#define WORD(type, address, field) \
	(AT(struct bvec_iter, (address) + bpf_core_field_offset(type, field))->bi_sector)

#define PGTY_SLAB 0xf5	/* linux/page-flags.h: a slab's page has other things in `mapping` */
#define MAPPING_FLAGS 3 /* anonymous, movable: no address_space */
/* fs/f2fs/f2fs.h: PAGE_PRIVATE_NOT_POINTER, PAGE_PRIVATE_ONGOING_MIGRATION */
#define MOVING 3

struct run {
	__u64 mapping, index;
	__u32 pages;
	__u32 marks; /* MOVING: both */
};

/* Not on the stack: the verifier would follow its values through every turn of the loops. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct run);
} runs SEC(".maps");

static __u64 serial;

/* The record of a run of a bio's pages. */
static __always_inline struct record record_of(const struct record *bio, const struct run *run)
{
	struct record record = {
		.type = RECORD_PAGES,
		.begin_ns = bio->begin_ns,
		.end_ns = bio->end_ns,
		.flags = OWNER_NONE,
		.tid = bio->tid,
		.dev = bio->dev,
		.n = run->pages,
		.b = run->index,
		.d = bio->d,
	};
	if (run->mapping) {
		struct inode *host = AT(struct address_space, run->mapping)->host;
		__u32 kind = host->i_mode & S_IFMT;
		record.flags = kind == S_IFREG	 ? run->marks == MOVING ? OWNER_MOVED : OWNER_FILE
			       : kind == S_IFDIR ? OWNER_DIRECTORY
			       : kind == S_IFBLK ? OWNER_DEVICE
						 : OWNER_OTHER;
		record.a = host->i_ino;
		record.c = kind == S_IFBLK ? host->i_rdev : host->i_generation;
	}
	return record;
}

/* The mapping and index of a page; mapping 0 when it has none. */
static __always_inline struct run place_of(__u64 address)
{
	struct run place = {.pages = 1};
	__u64 head = WORD(struct page, address, compound_head);
	if (head & 1)
		head--;
	else
		head = address;
	struct page *page = AT(struct page, head);
	__u64 mapping = WORD(struct page, head, mapping);
	if (mapping & MAPPING_FLAGS || page->page_type >> 24 == PGTY_SLAB)
		return place;
	place.mapping = mapping;
	place.marks = page->private & MOVING;
	if (mapping)
		place.index = page->index + (address - head) / bpf_core_type_size(struct page);
	return place;
}

static __always_inline void emit_pages(struct bio *bio, struct run *run, struct record *record)
{
	__u64 vector = (__u64)bio->bi_io_vec;
	int i;

	run->pages = 0;
	bpf_for(i, 0, bio->bi_vcnt)
	{
		__u64 address = vector + i * bpf_core_type_size(struct bio_vec);
		struct bio_vec *part = AT(struct bio_vec, address);
		__u64 page = WORD(struct bio_vec, address, bv_page);
		int first = part->bv_offset >> PAGE_SHIFT;
		int end = (part->bv_offset + part->bv_len + PAGE_SIZE - 1) >> PAGE_SHIFT;
		int j;

		bpf_for(j, first, end)
		{
			struct run next = place_of(page + j * bpf_core_type_size(struct page));
			if (run->pages && next.mapping == run->mapping &&
			    next.marks == run->marks &&
			    (!next.mapping || next.index == run->index + run->pages)) {
				run->pages++;
				continue;
			}
			if (run->pages) {
				emit(record_of(record, run));
				record->flags++;
			}
			*run = next;
		}
	}
	if (run->pages) {
		emit(record_of(record, run));
		record->flags++;
	}
}

/* Most writes of a filesystem are of one page. */
static __always_inline void emit_page(struct record *bio, __u64 page)
{
	struct run run = place_of(page);
	bio->flags = 1;
	emit(*bio);
	emit(record_of(bio, &run));
}

/* Any number of pages: the bio's record is ahead of theirs, and says how many follow. */
static __always_inline void emit_all(struct record *record, struct bio *bio, struct run *run)
{
	struct record *place = reserve();
	if (!place)
		return;
	record->type = 0;
	*place = *record;
	emit_pages(bio, run, place);
	finish(place, RECORD_BIO | (__u64)place->flags << 16 | (__u64)place->tid << 32);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	struct task_struct *task = current();
	__u64 now = bpf_ktime_get_ns();
	__u32 opf = bio->bi_opf, size = bio->bi_iter.bi_size;
	struct record record = {
		.type = RECORD_BIO,
		.begin_ns = now,
		.end_ns = now,
		.tid = task->pid,
		.dev = disk_dev(bio->bi_bdev->bd_disk),
		.n = size >> 9,
		.a = bio->bi_iter.bi_sector,
		.b = opf,
		.d = __sync_fetch_and_add(&serial, 1),
	};
	__u32 operation = opf & REQ_OP_MASK;
	__u64 vector = (__u64)bio->bi_io_vec;

	name_thread(task, now);
	if (!size || (operation != REQ_OP_WRITE && operation != REQ_OP_ZONE_APPEND)) {
		emit(record);
	} else if (size == PAGE_SIZE && AT(struct bio_vec, vector)->bv_len == PAGE_SIZE &&
		   !AT(struct bio_vec, vector)->bv_offset) {
		emit_page(&record, WORD(struct bio_vec, vector, bv_page));
	} else {
		struct run *run =
			bpf_task_storage_get(&runs, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (run)
			emit_all(&record, bio, run);
		else
			__sync_fetch_and_add(&ring.updates, 1);
	}
	return 0;
}
