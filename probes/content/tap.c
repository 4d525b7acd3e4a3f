// SPDX-License-Identifier: GPL-2.0-only
/*
 * content: kernel module that keeps in memory the data of every write command to a disk.
 *
 *   insmod content.ko major=MAJOR minor=MINOR    start, for that disk; data_mib, records: capacity
 *   /sys/kernel/debug/content                    opening it stops; the data, to be read once
 *
 * tap.c copies the data at the right time; log.c stores it.
 *
 * A command is noted at the block layer's issue tracepoint, so this is independent of drivers and
 * of the probes. Its data are copied slightly later, when the issuing thread gives up the CPU while
 * the device works: copying before would delay each command. No other thread runs before the copy,
 * and a command that completes earlier is copied then. Only the issuing thread, continuing without
 * sleeping, could change the data in between.
 */
#include <linux/debugfs.h>
#include <linux/kdev_t.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>

#include "log.h"

/* more than any device here takes in a row without the issuer sleeping */
#define NOTED 64

static uint major, minor;
/* the default cell writes 226 MiB; the records are as many as a device's own log may have */
static uint data_mib = 512, records = 1 << 20;
module_param(major, uint, 0444);
module_param(minor, uint, 0444);
module_param(data_mib, uint, 0444);
module_param(records, uint, 0444);
static dev_t disk;

static struct {
	raw_spinlock_t lock;
	unsigned int nr;
	struct {
		struct request *rq;
		u64 time_ns;
	} noted[NOTED];
} tap = {.lock = __RAW_SPIN_LOCK_UNLOCKED(tap.lock)};

static bool is_ours(struct request *rq)
{
	struct gendisk *of = rq->q->disk;

	return of && disk_devt(of) == disk;
}

/* Called with tap.lock held. */
static void take(void)
{
	unsigned int i;

	for (i = 0; i < tap.nr; i++)
		log_add(tap.noted[i].rq, tap.noted[i].time_ns, 0);
	tap.nr = 0;
}

static void take_noted(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tap.lock, flags);
	take();
	raw_spin_unlock_irqrestore(&tap.lock, flags);
}

static void on_issue(void *unused, struct request *rq)
{
	unsigned long flags;

	if (req_op(rq) == REQ_OP_READ || !is_ours(rq))
		return;
	raw_spin_lock_irqsave(&tap.lock, flags);
	if (tap.nr == NOTED)
		take();
	tap.noted[tap.nr].rq = rq;
	tap.noted[tap.nr++].time_ns = ktime_get_ns();
	raw_spin_unlock_irqrestore(&tap.lock, flags);
}

static void on_switch(void *unused, bool preempt, struct task_struct *from, struct task_struct *to,
		      unsigned int state)
{
	if (READ_ONCE(tap.nr))
		take_noted();
}

static void on_complete(void *unused, struct request *rq, blk_status_t error, unsigned int bytes)
{
	if (READ_ONCE(tap.nr))
		take_noted();
}

static void on_put_back(void *unused, struct request *rq)
{
	unsigned long flags;

	if (req_op(rq) == REQ_OP_READ || !is_ours(rq))
		return;
	raw_spin_lock_irqsave(&tap.lock, flags);
	take();
	log_add(rq, ktime_get_ns(), LOG_PUT_BACK);
	raw_spin_unlock_irqrestore(&tap.lock, flags);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *point;
	bool attached;
} hooks[] = {
	{"block_rq_issue", on_issue},
	{"block_rq_requeue", on_put_back},
	{"block_rq_complete", on_complete},
	{"sched_switch", on_switch},
};

static void find(struct tracepoint *point, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(point->name, hooks[i].name))
			hooks[i].point = point;
}

static void detach(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].attached)
			tracepoint_probe_unregister(hooks[i].point, hooks[i].probe, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		hooks[i].attached = false;
	/* no tracepoint handler is running any more */
	tracepoint_synchronize_unregister();
}

static int attach(void)
{
	unsigned int i;
	int error;

	/* most are not exported */
	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		error = hooks[i].point
				? tracepoint_probe_register(hooks[i].point, hooks[i].probe, NULL)
				: -ENOENT;
		if (error) {
			pr_err("content: tracepoint %s: error %d\n", hooks[i].name, error);
			detach();
			return error;
		}
		hooks[i].attached = true;
	}
	return 0;
}

static int open_log(struct inode *inode, struct file *file)
{
	detach();
	take_noted();
	return 0;
}

static ssize_t read_log(struct file *file, char __user *buffer, size_t count, loff_t *offset)
{
	return log_read(buffer, count, offset);
}

static const struct file_operations log_file = {
	.owner = THIS_MODULE,
	.open = open_log,
	.read = read_log,
};

static struct dentry *file;

static int __init content_init(void)
{
	int error = log_make(data_mib, records);

	if (error) {
		pr_err("content: a log of %u MiB and %u records cannot be made: error %d\n",
		       data_mib, records, error);
		return error;
	}
	disk = MKDEV(major, minor);
	error = attach();
	if (error) {
		log_free();
		return error;
	}
	file = debugfs_create_file("content", 0400, NULL, NULL, &log_file);
	return 0;
}

static void __exit content_exit(void)
{
	debugfs_remove(file);
	detach();
	log_free();
}

module_init(content_init);
module_exit(content_exit);
MODULE_DESCRIPTION("Keeps what is written to a disk");
MODULE_LICENSE("GPL");
