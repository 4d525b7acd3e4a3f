/*
 * elfutils.c - two functions that Debian 13's libelf.a calls but lacks (they are part of
 * libelf.so).
 *
 * They initialise and free a tsearch(3) tree in which libelf keeps what elf_getdata_rawchunk read.
 * The structure's other member is a lock; the recorder has only one thread.
 */
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}
