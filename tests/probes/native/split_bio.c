/* The rest of a bio that was split within its second vector; one of its last page; and one of a
 * page of which two vectors have a half. */
#include "bio.bpf.c"
#include "native.h"

int main(void)
{
	static struct page pages[8];
	struct task_struct task = {.pid = 7};
	struct gendisk disk = {};
	struct block_device device = {.bd_disk = &disk, .bd_dev = 1};
	struct super_block sb = {.s_dev = 1};
	struct inode inode = {.i_mode = S_IFREG, .i_sb = &sb, .i_ino = 5};
	struct address_space mapping = {.host = &inode};
	struct bio_vec vectors[] = {{&pages[0], 2 * PAGE_SIZE, 0},
				    {&pages[2], 4 * PAGE_SIZE, 0},
				    {&pages[6], PAGE_SIZE, 0}};
	struct bio bio = {
		.bi_bdev = &device,
		.bi_opf = REQ_OP_WRITE,
		.bi_iter = {.bi_size = 3 * PAGE_SIZE, .bi_idx = 1, .bi_bvec_done = 2 * PAGE_SIZE},
		.bi_io_vec = vectors,
	};

	native_begin();
	native_task = &task;
	for (int i = 0; i < 8; i++) {
		pages[i].mapping = &mapping;
		((struct folio *)&pages[i])->index = 10 + i;
	}
	bio_queue(&bio);
	bio.bi_iter = (struct bvec_iter){.bi_size = PAGE_SIZE, .bi_idx = 2};
	bio_queue(&bio);
	struct bio_vec halves[] = {{&pages[2], PAGE_SIZE, 0}, {&pages[3], PAGE_SIZE, 0}};
	bio.bi_io_vec = halves;
	bio.bi_iter = (struct bvec_iter){.bi_size = PAGE_SIZE, .bi_bvec_done = PAGE_SIZE / 2};
	bio_queue(&bio);
	native_print(RECORD_PAGES);
	return 0;
}
