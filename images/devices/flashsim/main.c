// SPDX-License-Identifier: GPL-2.0-only
/*
 * flashsim's module and its files in configfs, which set the parameters of each device and turn its
 * power on. flashsim is a block device in memory with the timing of a flash device.
 *
 * A folder made in /sys/kernel/config/flashsim is a device. Its files are `sectors` (its
 * size, in 512 bytes), the parameters of model.h, and `power`: 1 makes /dev/<folder>.
 *
 *   main.c    the module and configfs      model.c  when a command completes
 *   queue.c   the block device             media.c  dies
 *   store.c   the data                     units.c  allocation units
 *   cache.c   writes a power cut may lose  sysfs.c  counters and switches
 *   history.c past states                  log.c    log of all commands
 *   map.c     page map and its garbage     map_cache.c  cache of the page map
 *   fault.c   a fault of one command
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "flash.h"

static struct flash_device *device_of(struct config_item *item)
{
	return container_of(to_config_group(item), struct flash_device, group);
}

enum {
#define P(name, live, least, most) PARAMETER_##name,
	FLASH_PARAMETERS(P)
#undef P
		NR_PARAMETERS
};

static const char *const parameter_names[] = {
#define P(name, live, least, most) #name,
	FLASH_PARAMETERS(P)
#undef P
};

static int parse(const char *page, u64 least, u64 most, u64 *value)
{
	/* kstrtou64 rejects signs, trailing text and overflow */
	if (kstrtou64(page, 10, value) || *value < least || *value > most)
		return -EINVAL;
	return 0;
}

static ssize_t store_parameter(struct config_item *item, const char *page, size_t count, u64 *field,
			       int number, bool live, u64 least, u64 most)
{
	struct flash_device *dev = device_of(item);
	u64 value;

	if (parse(page, least, most, &value))
		return -EINVAL;
	mutex_lock(&dev->config_lock);
	if (dev->powered && !live) {
		mutex_unlock(&dev->config_lock);
		return -EBUSY;
	}
	mutex_lock(&dev->lock);
	*field = value;
	if (dev->powered)
		dev->model->p = dev->p;
	mutex_unlock(&dev->lock);
	dev->set |= BIT_ULL(number);
	mutex_unlock(&dev->config_lock);
	return count;
}

#define P(name, live, least, most)                                                      \
	static ssize_t flash_##name##_show(struct config_item *item, char *page)        \
	{                                                                               \
		struct flash_device *dev = device_of(item);                             \
		if (!(dev->set & BIT_ULL(PARAMETER_##name)))                            \
			return sysfs_emit(page, "unset\n");                             \
		return sysfs_emit(page, "%llu\n", dev->p.name);                         \
	}                                                                               \
	static ssize_t flash_##name##_store(struct config_item *item, const char *page, \
					    size_t count)                               \
	{                                                                               \
		return store_parameter(item, page, count, &device_of(item)->p.name,     \
				       PARAMETER_##name, live, least, most);            \
	}                                                                               \
	CONFIGFS_ATTR(flash_, name);
FLASH_PARAMETERS(P)
#undef P

static ssize_t flash_sectors_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", device_of(item)->sectors);
}

static ssize_t flash_sectors_store(struct config_item *item, const char *page, size_t count)
{
	struct flash_device *dev = device_of(item);
	ssize_t result = count;
	u64 value;

	if (parse(page, 8, 1ULL << 32, &value))
		return -EINVAL;
	mutex_lock(&dev->config_lock);
	if (dev->powered)
		result = -EBUSY;
	else
		dev->sectors = value;
	mutex_unlock(&dev->config_lock);
	return result;
}
CONFIGFS_ATTR(flash_, sectors);

static struct configfs_subsystem subsystem;

static int check(struct flash_device *dev, const char *name)
{
	const char *problem;
	int i;

	for (i = 0; i < NR_PARAMETERS; i++) {
		if (!(dev->set & BIT_ULL(i))) {
			pr_err("flashsim: %s: %s is not set\n", name, parameter_names[i]);
			return -EINVAL;
		}
	}
	problem = flash_check(&dev->p, dev->sectors);
	if (problem) {
		pr_err("flashsim: %s: %s\n", name, problem);
		return -EINVAL;
	}
	return 0;
}

static int power_on(struct flash_device *dev, struct config_item *item)
{
	const char *name = config_item_name(item);
	int error = check(dev, name);

	if (error)
		return error;
	/* prevents removal of the folder while its device is on */
	error = configfs_depend_item_unlocked(&subsystem, item);
	if (error)
		return error;
	error = flash_start(dev, name);
	if (error)
		configfs_undepend_item(item);
	return error;
}

static int power_off(struct flash_device *dev, struct config_item *item)
{
	int error = flash_stop(dev);

	if (!error)
		configfs_undepend_item(item);
	return error;
}

static ssize_t flash_power_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", device_of(item)->powered);
}

static ssize_t flash_power_store(struct config_item *item, const char *page, size_t count)
{
	struct flash_device *dev = device_of(item);
	int error = 0;
	u64 value;

	if (parse(page, 0, 1, &value))
		return -EINVAL;
	mutex_lock(&dev->config_lock);
	if (value != dev->powered) {
		error = value ? power_on(dev, item) : power_off(dev, item);
		if (!error)
			dev->powered = value;
	}
	mutex_unlock(&dev->config_lock);
	return error ?: count;
}
CONFIGFS_ATTR(flash_, power);

static struct configfs_attribute *device_attributes[] = {
#define P(name, live, least, most) &flash_attr_##name,
	FLASH_PARAMETERS(P)
#undef P
		& flash_attr_sectors,
	&flash_attr_power,
	NULL,
};

static void device_release(struct config_item *item)
{
	kfree(device_of(item));
}

static struct configfs_item_operations device_ops = {
	.release = device_release,
};

static const struct config_item_type device_type = {
	.ct_item_ops = &device_ops,
	.ct_attrs = device_attributes,
	.ct_owner = THIS_MODULE,
};

static struct config_group *make_device(struct config_group *group, const char *name)
{
	struct flash_device *dev;

	if (strlen(name) >= DISK_NAME_LEN)
		return ERR_PTR(-ENAMETOOLONG);
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	mutex_init(&dev->config_lock);
	mutex_init(&dev->lock);
	spin_lock_init(&dev->done_lock);
	INIT_LIST_HEAD(&dev->changes);
	flash_history_init(dev);
	xa_init(&dev->pages);
	xa_init(&dev->log);
	config_group_init_type_name(&dev->group, name, &device_type);
	return &dev->group;
}

static struct configfs_group_operations subsystem_ops = {
	.make_group = make_device,
};

static const struct config_item_type subsystem_type = {
	.ct_group_ops = &subsystem_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem subsystem = {
	.su_group =
		{
			.cg_item =
				{
					.ci_namebuf = "flashsim",
					.ci_type = &subsystem_type,
				},
		},
};

static int __init flash_init(void)
{
	BUILD_BUG_ON(NR_PARAMETERS > 64);
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	return configfs_register_subsystem(&subsystem);
}

static void __exit flash_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
}

module_init(flash_init);
module_exit(flash_exit);
MODULE_DESCRIPTION("Flash block device in memory, with a model of its time");
MODULE_LICENSE("GPL");
