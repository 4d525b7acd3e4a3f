// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/block/NAME/flashsim of a running device: counters, reset, log, power cut, faults, history.
 *   stats      counters, `name=value` a line
 *   reset      1: counters zero, cache clean, units closed, generator at its seed, log empty
 *   log        log of all commands since the last reset (log.c)
 *   power_cut  0: power is on; other values: flash_cut
 *   fault      a fault: flash_fault_set; read: whether and where it fired
 *   history    0, 1: whether past states can be shown; other values: flash_history_command
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "flash.h"
#include "kernels.h"

static struct flash_device *device_of(struct device *device)
{
	return dev_to_disk(device)->private_data;
}

static ssize_t stats_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	struct flash_device *dev = device_of(device);
	const struct flash_stats *s = &dev->model->stats;
	u64 total = 0;
	int n = 0, i;

	mutex_lock(&dev->lock);
	for (i = 0; i < FLASH_NR_CAUSES; i++)
		total += s->time[i];
	n += sysfs_emit_at(buffer, n, "time_ns=%llu\n", total);
#define C(name) n += sysfs_emit_at(buffer, n, "time_" #name "_ns=%llu\n", s->time[CAUSE_##name]);
	FLASH_CAUSES(C)
#undef C
#define C(name) n += sysfs_emit_at(buffer, n, #name "=%llu\n", s->name);
	FLASH_COUNTS(C)
#undef C
	n += sysfs_emit_at(buffer, n, "blocks=%u\n", dev->model->map.blocks);
	n += sysfs_emit_at(buffer, n, "free_blocks=%u\n", dev->model->map.nr_free);
	n += sysfs_emit_at(buffer, n, "held_bytes=%llu\n", dev->nr_pages * (u64)PAGE_SIZE);
	n += sysfs_emit_at(buffer, n, "unflushed=%llu\n", flash_unflushed(dev));
	n += sysfs_emit_at(buffer, n, "settled_early=%llu\n", dev->settled_early);
	n += sysfs_emit_at(buffer, n, "cut_kept=%llu\n", dev->cut_kept);
	n += sysfs_emit_at(buffer, n, "cut_lost=%llu\n", dev->cut_lost);
	n += sysfs_emit_at(buffer, n, "log_entries=%llu\n", dev->nr_log);
	n += sysfs_emit_at(buffer, n, "log_lost=%llu\n", dev->log_lost);
	mutex_unlock(&dev->lock);
	return n;
}
static DEVICE_ATTR_RO(stats);

static ssize_t reset_store(struct device *device, struct device_attribute *attribute,
			   const char *buffer, size_t count)
{
	struct flash_device *dev = device_of(device);
	struct request_queue *queue = dev->disk->queue;
	unsigned int frozen;

	if (!sysfs_streq(buffer, "1"))
		return -EINVAL;
	frozen = flash_freeze(queue);
	mutex_lock(&dev->lock);
	flash_settle_all(dev);
	flash_history_clear(dev);
	flash_reset(dev->model);
	dev->cut_random = ~dev->p.seed;
	dev->cut_kept = dev->cut_lost = dev->settled_early = 0;
	flash_log_clear(dev);
	dev->logging = true;
	mutex_unlock(&dev->lock);
	flash_unfreeze(queue, frozen);
	return count;
}
static DEVICE_ATTR_WO(reset);

static ssize_t power_cut_show(struct device *device, struct device_attribute *attribute,
			      char *buffer)
{
	return sysfs_emit(buffer, "%d\n", READ_ONCE(device_of(device)->cut));
}

static ssize_t power_cut_store(struct device *device, struct device_attribute *attribute,
			       const char *buffer, size_t count)
{
	struct flash_device *dev = device_of(device);
	char *copy = kstrndup(buffer, count, GFP_KERNEL);
	int error = 0;

	if (!copy)
		return -ENOMEM;
	if (sysfs_streq(copy, "0"))
		flash_restore(dev);
	else
		error = flash_cut(dev, strim(copy));
	kfree(copy);
	return error ?: count;
}
static DEVICE_ATTR_RW(power_cut);

static ssize_t history_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%d\n", READ_ONCE(device_of(device)->keeps_history));
}

static ssize_t history_store(struct device *device, struct device_attribute *attribute,
			     const char *buffer, size_t count)
{
	char *copy = kstrndup(buffer, count, GFP_KERNEL);
	int error;

	if (!copy)
		return -ENOMEM;
	error = flash_history_command(device_of(device), strim(copy));
	kfree(copy);
	return error ?: count;
}
static DEVICE_ATTR_RW(history);

static ssize_t fault_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	struct flash_device *dev = device_of(device);
	const struct flash_fault *fault = &dev->fault;
	int n;

	mutex_lock(&dev->lock);
	n = sysfs_emit(buffer, "fired=%d seen=%llu sector=%llu\n",
		       fault->kind && fault->seen >= fault->number, fault->seen,
		       (u64)fault->sector);
	mutex_unlock(&dev->lock);
	return n;
}

static ssize_t fault_store(struct device *device, struct device_attribute *attribute,
			   const char *buffer, size_t count)
{
	struct flash_device *dev = device_of(device);
	char *copy = kstrndup(buffer, count, GFP_KERNEL);
	int error;

	if (!copy)
		return -ENOMEM;
	mutex_lock(&dev->lock);
	error = flash_fault_set(dev, strim(copy));
	mutex_unlock(&dev->lock);
	kfree(copy);
	return error ?: count;
}
static DEVICE_ATTR_RW(fault);

static ssize_t log_read(struct file *file, struct kobject *kobj, flash_file *attribute,
			char *buffer, loff_t offset, size_t count)
{
	return flash_log_read(device_of(kobj_to_dev(kobj)), buffer, offset, count);
}
static BIN_ATTR_RO(log, 0);

static flash_file_list flash_files[] = {
	&bin_attr_log,
	NULL,
};

static struct attribute *flash_attributes[] = {
	&dev_attr_stats.attr,	&dev_attr_reset.attr, &dev_attr_power_cut.attr,
	&dev_attr_history.attr, &dev_attr_fault.attr, NULL,
};

static const struct attribute_group flash_group = {
	.name = "flashsim",
	.attrs = flash_attributes,
	.bin_attrs = flash_files,
};

const struct attribute_group *flash_disk_groups[] = {&flash_group, NULL};
