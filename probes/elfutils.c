/*
 * elfutils.c - two functions that Debian 13's libelf.a calls and does not have: they are in a
 * library of elfutils that is a part of libelf.so only.
 *
 * What they begin and end is a tree of tsearch(3), which libelf keeps of what elf_getdata_rawchunk
 * read; the rest of the structure is a lock, for threads, of which the recorder has one.
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
