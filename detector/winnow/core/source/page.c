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

/* The nearest chosen ancestor of every node, and the nodes inside chosen ones: see winnow.page.tree. */

/* nearest(parent: int32[k], chosen: bool[k], found: int32[k]) -> bool, False where a parent stands behind its child */
PyObject *core_nearest(PyObject *module, PyObject *arguments)
{
    enum { PARENT, CHOSEN, FOUND, ARRAYS };
    static const char *const names[ARRAYS] = {"parent", "chosen", "found"};
    static const int sizes[ARRAYS] = {4, 1, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t i, k;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO", &objects[PARENT], &objects[CHOSEN], &objects[FOUND])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, FOUND) < 0) {
        goto done;
    }
    k = arrays[PARENT].length;
    if (arrays[CHOSEN].length != k || arrays[FOUND].length != k) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    for (i = 0; i < k; i++) {
        int32_t parent = ITEMS(arrays[PARENT], int32_t)[i];
        if (parent < -1 || parent >= i) {
            break;
        }
        ITEMS(arrays[FOUND], int32_t)[i] = ITEMS(arrays[CHOSEN], uint8_t)[i] ? (int32_t)i
                                           : parent < 0                      ? -1
                                                                             : ITEMS(arrays[FOUND], int32_t)[parent];
    }
    result = PyBool_FromLong(i == k);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}

/* within(end: int32[n], chosen: bool[n], inside: bool[n]) */
PyObject *core_within(PyObject *module, PyObject *arguments)
{
    enum { END, CHOSEN, INSIDE, ARRAYS };
    static const char *const names[ARRAYS] = {"end", "chosen", "inside"};
    static const int sizes[ARRAYS] = {4, 1, 1};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t i;
    int32_t until = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO", &objects[END], &objects[CHOSEN], &objects[INSIDE])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, INSIDE) < 0) {
        goto done;
    }
    if (arrays[CHOSEN].length != arrays[END].length || arrays[INSIDE].length != arrays[END].length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    for (i = 0; i < arrays[END].length; i++) {
        if (ITEMS(arrays[CHOSEN], uint8_t)[i] && ITEMS(arrays[END], int32_t)[i] > until) {
            until = ITEMS(arrays[END], int32_t)[i];
        }
        ITEMS(arrays[INSIDE], uint8_t)[i] = i < until;
    }
    result = Py_NewRef(Py_None);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}
