/* The arrays of winnow.page.Page, borrowed and checked once, so that no other function needs to. */
#ifndef WINNOW_PAGE_H
#define WINNOW_PAGE_H

#include "core.h"

enum {
    PAGE_TAG, PAGE_PARENT, PAGE_END, PAGE_DEPTH, PAGE_RUN_BEGIN, PAGE_RUN_END, PAGE_BLOCK_BEGIN, PAGE_BLOCK_END,
    PAGE_RUN_NODE, PAGE_BLOCK_NODE, PAGE_BLOCK_RUN_BEGIN, PAGE_BLOCK_RUN_END, PAGE_ARRAYS
};

typedef struct {
    Array arrays[PAGE_ARRAYS];
    Py_ssize_t n, m, r;
    const int16_t *tag;
    const int32_t *parent, *end, *depth, *run_begin, *run_end, *block_begin, *block_end;
    const int32_t *run_node, *block_node, *block_run_begin, *block_run_end;
} PageArrays;

/* Borrow the arrays from a tuple of them in the order above. The parent of an element other than the first comes before
   it, ends come behind, slices and numbers lie inside what they are of, tags below `tags`, and no block is without runs.
   0, or -1 with an exception set; page_release() is needed in both cases. */
int page_borrow(PageArrays *page, PyObject *tuple, Py_ssize_t tags);

void page_release(PageArrays *page);

/* Whether `begin`, int32[n + 1], divides the attributes among elements, and each of `first`, int32[a], is an attribute. */
int are_attributes(const Array *first, const Array *begin);

#endif
