/* The arrays of a page, borrowed and checked. */
#include "page.h"

static const char *const names[PAGE_ARRAYS] = {
    "tag", "parent", "end", "depth", "run_begin", "run_end", "block_begin", "block_end",
    "run_node", "block_node", "block_run_begin", "block_run_end",
};

static int is_slice(int32_t begin, int32_t end, Py_ssize_t length)
{
    return begin >= 0 && begin <= end && end <= length;
}

static int is_sound(const PageArrays *page, Py_ssize_t tags)
{
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        if (page->tag[i] < 0 || page->tag[i] >= tags || page->parent[i] >= i || page->parent[i] < (i ? 0 : -1)
            || page->end[i] <= i || page->end[i] > page->n || page->depth[i] < 0
            || !is_slice(page->run_begin[i], page->run_end[i], page->r)
            || !is_slice(page->block_begin[i], page->block_end[i], page->m)) {
            return 0;
        }
    }
    for (i = 0; i < page->r; i++) {
        if (page->run_node[i] < 0 || page->run_node[i] >= page->n) {
            return 0;
        }
    }
    for (i = 0; i < page->m; i++) {
        if (page->block_node[i] < 0 || page->block_node[i] >= page->n
            || !is_slice(page->block_run_begin[i], page->block_run_end[i], page->r)
            || page->block_run_begin[i] == page->block_run_end[i]) {
            return 0;
        }
    }
    return 1;
}

int page_borrow(PageArrays *page, PyObject *tuple, Py_ssize_t tags)
{
    int k;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != PAGE_ARRAYS) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of the arrays of a page");
        return -1;
    }
    for (k = 0; k < PAGE_ARRAYS; k++) {
        if (array_borrow(&page->arrays[k], PyTuple_GetItem(tuple, k), k == PAGE_TAG ? 2 : 4, 0, names[k]) < 0) {
            return -1;
        }
    }
    page->n = page->arrays[PAGE_TAG].length;
    page->r = page->arrays[PAGE_RUN_NODE].length;
    page->m = page->arrays[PAGE_BLOCK_NODE].length;
    for (k = PAGE_PARENT; k <= PAGE_BLOCK_END; k++) {
        if (page->arrays[k].length != page->n) {
            PyErr_Format(PyExc_ValueError, "%s: of another length than expected", names[k]);
            return -1;
        }
    }
    page->tag = ITEMS(page->arrays[PAGE_TAG], int16_t);
    page->parent = ITEMS(page->arrays[PAGE_PARENT], int32_t);
    page->end = ITEMS(page->arrays[PAGE_END], int32_t);
    page->depth = ITEMS(page->arrays[PAGE_DEPTH], int32_t);
    page->run_begin = ITEMS(page->arrays[PAGE_RUN_BEGIN], int32_t);
    page->run_end = ITEMS(page->arrays[PAGE_RUN_END], int32_t);
    page->block_begin = ITEMS(page->arrays[PAGE_BLOCK_BEGIN], int32_t);
    page->block_end = ITEMS(page->arrays[PAGE_BLOCK_END], int32_t);
    page->run_node = ITEMS(page->arrays[PAGE_RUN_NODE], int32_t);
    page->block_node = ITEMS(page->arrays[PAGE_BLOCK_NODE], int32_t);
    page->block_run_begin = ITEMS(page->arrays[PAGE_BLOCK_RUN_BEGIN], int32_t);
    page->block_run_end = ITEMS(page->arrays[PAGE_BLOCK_RUN_END], int32_t);
    if (page->arrays[PAGE_BLOCK_RUN_BEGIN].length != page->m || page->arrays[PAGE_BLOCK_RUN_END].length != page->m
        || (page->m && !page->n) || !is_sound(page, tags)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of a page");
        return -1;
    }
    return 0;
}

void page_release(PageArrays *page)
{
    int k;
    for (k = PAGE_ARRAYS - 1; k >= 0; k--) {
        array_release(&page->arrays[k]);
    }
}

int are_attributes(const Array *first, const Array *begin)
{
    const int32_t *bound = ITEMS(*begin, int32_t);
    Py_ssize_t n = begin->length - 1, i;
    if (n < 0 || bound[0] != 0 || bound[n] != first->length) {
        return 0;
    }
    for (i = 0; i < n; i++) {
        if (bound[i] > bound[i + 1]) {
            return 0;
        }
    }
    for (i = 0; i < first->length; i++) {
        if (ITEMS(*first, int32_t)[i] < 0 || ITEMS(*first, int32_t)[i] >= first->length) {
            return 0;
        }
    }
    return 1;
}

/* nearest(parent: int32[k], chosen: bool[k], found: int32[k]), for winnow.page.tree: the nearest chosen ancestor of
   every node, -1 without one. Parents come before their children. */
PyObject *core_nearest(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array parent = {0}, chosen = {0}, found = {0};
    Py_ssize_t i;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_4, &parent, in_1, &chosen, out_4, &found)
        || !check_arrays(chosen.length == parent.length && found.length == parent.length)) {
        return NULL;
    }
    for (i = 0; i < parent.length; i++) {
        int32_t above = ITEMS(parent, int32_t)[i];
        if (above < -1 || above >= i) {
            check_arrays(0);
            return NULL;
        }
        if (ITEMS(chosen, uint8_t)[i]) {
            ITEMS(found, int32_t)[i] = (int32_t)i;
        }
        else {
            ITEMS(found, int32_t)[i] = above < 0 ? -1 : ITEMS(found, int32_t)[above];
        }
    }
    Py_RETURN_NONE;
}
