/*
 * kernel.h - the kernel structures' fields that the probes read.
 *
 * Only names and types matter: when a probe is loaded, libbpf fills in each field's offset from the
 * board's BTF (CO-RE), and refuses to load it if a field is missing.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	char comm[16] __attribute__((aligned(8))); /* so that 8 bytes are one load */
};

struct pt_regs {
	__s32 syscallno;
};

/* files */

struct super_block {
	__u32 s_dev;
};

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_rdev;
	__u32 i_generation;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct address_space {
	struct inode *host;
};

struct page {
	unsigned long flags;
	struct address_space *mapping;
	unsigned long private;
	unsigned long compound_head;
	unsigned int page_type;
};

/* the same for kernels with another name for compound_head (CO-RE ignores what follows ___) */
struct page___info {
	unsigned long compound_info;
};

/* a page that is its own head, by its newer name */
struct folio {
	unsigned long index;
};

/* a slab's page, by its type or by a flag */
enum pagetype { PGTY_slab };
enum pageflags { PG_slab };

/* block layer */

struct gendisk {
	unsigned int major;
	unsigned int first_minor;
};

struct block_device {
	struct gendisk *bd_disk;
	__u32 bd_dev;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	__u32 cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
	__u64 start_time_ns;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
	unsigned int bi_bvec_done;
};

struct bio {
	struct block_device *bi_bdev;
	__u32 bi_opf;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
};

/* writeback */

struct device {
	__u32 devt;
};

struct backing_dev_info {
	struct device *owner;
};

struct bdi_writeback {
	struct backing_dev_info *bdi;
};

enum wb_reason { WB_REASON_BACKGROUND };

struct wb_writeback_work {
	long nr_pages;
	enum wb_reason reason;
};

#pragma clang attribute pop

/* Not in BTF: macros of linux/blk_types.h, linux/sched.h, linux/stat.h. */
#define REQ_OP_MASK 0xff
#define REQ_OP_WRITE 1
#define REQ_OP_FLUSH 2
#define REQ_OP_ZONE_APPEND 7
#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD 0x00200000
#define S_IFMT 0170000
#define S_IFDIR 0040000
#define S_IFBLK 0060000
#define S_IFREG 0100000
#define PAGE_SHIFT 12
#define PAGE_SIZE (1 << PAGE_SHIFT)

#endif
