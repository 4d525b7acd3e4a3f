// SPDX-License-Identifier: GPL-2.0-only
/*
 * bio_vectors: stop the kernel from merging pages of different folios into one bio vector.
 *
 *   /sys/module/bio_vectors/parameters/function    the hooked kernel function
 *   /sys/module/bio_vectors/parameters/by          how: ftrace or kprobe
 *   /sys/module/bio_vectors/parameters/calls       its calls since the module was loaded
 *   /sys/module/bio_vectors/parameters/kept_apart  calls in which a merge was prevented
 *
 * A bio has at most 256 vectors. The kernel lets pages that are adjacent in memory share one, so
 * the length of a large write depends on where the page cache's pages happen to lie, and two boards
 * write the same sync in different commands. With one folio per vector it depends on the file
 * alone. Pages of one folio still share a vector.
 *
 * Loading fails if the function is missing or was inlined: two bios are filled to verify it. The
 * module cannot be removed.
 */
#include <linux/bio.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>

static unsigned long calls, kept_apart;
static char *function, *by;

module_param(calls, ulong, 0444);
module_param(kept_apart, ulong, 0444);
module_param(function, charp, 0444);
module_param(by, charp, 0444);

/* Functions that decide whether a page may share the last vector: (vector, page, ...) from Linux
 * 6.6 on, (bio, page, ...) before. */
static char *const functions[] = {"bvec_try_merge_page", "__bio_try_merge_page"};
static bool takes_bio;

static __always_inline bool keep_apart(unsigned long first, unsigned long second)
{
	struct page *page = (struct page *)second, *last;
	const struct bio_vec *vector = (const struct bio_vec *)first;

	calls++;
	if (takes_bio) {
		const struct bio *bio = (const struct bio *)first;

		if (!bio->bi_vcnt)
			return false;
		vector = &bio->bi_io_vec[bio->bi_vcnt - 1];
	}
	last = vector->bv_page + (vector->bv_offset + vector->bv_len - 1) / PAGE_SIZE;
	if (compound_head(last) == compound_head(page))
		return false;
	kept_apart++;
	return true;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
static void notrace answer(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			   struct ftrace_regs *regs)
{
	if (keep_apart(ftrace_regs_get_argument(regs, 0), ftrace_regs_get_argument(regs, 1))) {
		ftrace_regs_set_return_value(regs, false);
		ftrace_override_function_with_return(regs);
	}
}

static struct ftrace_ops ops = {
	.func = answer,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT,
};

static int __init hook(char *name)
{
	int error = ftrace_set_filter(&ops, (unsigned char *)name, strlen(name), true);

	by = "ftrace";
	return error ? error : register_ftrace_function(&ops);
}

static void __init unhook(void)
{
	unregister_ftrace_function(&ops);
}
#elif defined(CONFIG_KPROBES)
static int answer(struct kprobe *probe, struct pt_regs *regs)
{
	if (!keep_apart(regs->regs[0], regs->regs[1]))
		return 0;
	regs->regs[0] = false;
	instruction_pointer_set(regs, procedure_link_pointer(regs));
	return 1;
}
NOKPROBE_SYMBOL(answer);

static struct kprobe probe = {.pre_handler = answer};

static int __init hook(char *name)
{
	probe = (struct kprobe){.pre_handler = answer, .symbol_name = name};
	by = "kprobe";
	return register_kprobe(&probe);
}

static void __init unhook(void)
{
	unregister_kprobe(&probe);
}
#else
static int __init hook(char *name)
{
	return -EOPNOTSUPP;
}

static void __init unhook(void)
{
}
#endif

#ifdef HAS_BIO_ADD_FOLIO
#define add_folio(bio, page) bio_add_folio(bio, page_folio(page), PAGE_SIZE, 0)
#else
#define add_folio(bio, page) bio_add_page(bio, page, PAGE_SIZE, 0)
#endif

/* Return the number of vectors of a bio of two pages that are adjacent in memory. */
static int __init vectors(struct page *pages, bool by_folio)
{
	struct bio_vec table[2];
	struct bio bio;
	int i, found;

#ifdef HAS_BIO_OF_DEVICE
	bio_init(&bio, NULL, table, ARRAY_SIZE(table), REQ_OP_WRITE);
#else
	bio_init(&bio, table, ARRAY_SIZE(table));
#endif
	for (i = 0; i < 2; i++)
		if (by_folio ? !add_folio(&bio, pages + i)
			     : !bio_add_page(&bio, pages + i, PAGE_SIZE, 0))
			break;
	found = i == 2 ? bio.bi_vcnt : -1;
	bio_uninit(&bio);
	return found;
}

/* Verify that two folios get two vectors, and one folio gets one. */
static int __init prove(void)
{
	struct page *two = alloc_pages(GFP_KERNEL, 1),
		    *one = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	int error = -ENOMEM;

	if (two && one) {
		split_page(two, 1);
		error = -ENODEV;
		if (vectors(two, false) == 2 && vectors(two, true) == 2 && vectors(one, false) == 1)
			error = 0;
		__free_page(two + 1);
		__free_page(two);
	} else if (two) {
		__free_pages(two, 1);
	}
	if (one)
		__free_pages(one, 1);
	return error;
}

static int __init bio_vectors_init(void)
{
	int i, error = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		function = functions[i];
		takes_bio = i == 1;
		error = hook(function);
		if (!error)
			break;
	}
	if (error) {
		pr_err("bio_vectors: neither %s nor %s can be hooked: error %d\n", functions[0],
		       functions[1], error);
		return error;
	}
	error = prove();
	if (error) {
		pr_err("bio_vectors: %s is hooked by %s, and pages of two folios still share a "
		       "vector "
		       "(error %d)\n",
		       function, by, error);
		unhook();
	}
	return error;
}

module_init(bio_vectors_init);
MODULE_DESCRIPTION("Pages of different folios never share a vector of a bio");
MODULE_LICENSE("GPL");
