/* An atomic write's commit of a file, which writes nodes and does not wait; then a sync of it. */
#include "f2fs.bpf.c"
#include "native.h"

int main(void)
{
	struct task_struct task = {.pid = 7};
	struct super_block sb = {.s_dev = 1};
	struct inode inode = {.i_sb = &sb, .i_ino = 5};
	struct file file = {.f_inode = &inode};
	unsigned long long synced[] = {(__u64)&file, 0, 0, 0, 0};

	native_begin();
	native_task = &task;
	nodes_begin(NULL, &inode);
	native_ns = 1000;
	f2fs_sync_begin(synced);
	nodes_begin(NULL, &inode);
	/* as where the inode's block must be written again */
	nodes_begin(NULL, &inode);
	nodes_end(NULL);
	printf("%llu\n", ring.updates);
	native_print(RECORD_NODE_WAIT);
	return 0;
}
