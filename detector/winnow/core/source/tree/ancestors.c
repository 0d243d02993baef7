/* The nearest chosen ancestor of every node, what is below chosen ones, and what blocks have around them: the doubles of
   winnow.page.tree, winnow.page.tree.within and winnow.output.places. */
#include "core.h"

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

/* places(parent: int32[n], tag: int16[n], of_tag: uint8[T], block_node: int32[m], found: uint8[m]) */
PyObject *core_places(PyObject *module, PyObject *arguments)
{
    enum { PARENT, TAG, OF_TAG, BLOCK_NODE, FOUND, ARRAYS };
    static const char *const names[ARRAYS] = {"parent", "tag", "of_tag", "block_node", "found"};
    static const int sizes[ARRAYS] = {4, 2, 1, 4, 1};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    uint8_t *around = NULL; /* of each element, its own kind too */
    Py_ssize_t i, n, m;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &objects[PARENT], &objects[TAG], &objects[OF_TAG], &objects[BLOCK_NODE],
                          &objects[FOUND])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, FOUND) < 0) {
        goto done;
    }
    n = arrays[PARENT].length;
    m = arrays[BLOCK_NODE].length;
    if (arrays[TAG].length != n || arrays[FOUND].length != m) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    if ((around = malloc((size_t)n + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (i = 0; i < n; i++) {
        int32_t parent = ITEMS(arrays[PARENT], int32_t)[i];
        int16_t tag = ITEMS(arrays[TAG], int16_t)[i];
        if (parent < -1 || parent >= i || tag < 0 || tag >= arrays[OF_TAG].length) {
            PyErr_SetString(PyExc_ValueError, "not the elements of a page");
            goto done;
        }
        around[i] = (uint8_t)(ITEMS(arrays[OF_TAG], uint8_t)[tag] | (parent < 0 ? 0 : around[parent]));
    }
    for (i = 0; i < m; i++) {
        int32_t node = ITEMS(arrays[BLOCK_NODE], int32_t)[i];
        if (node < 0 || node >= n) {
            PyErr_SetString(PyExc_ValueError, "a block outside the page");
            goto done;
        }
        ITEMS(arrays[FOUND], uint8_t)[i] = around[node];
    }
    result = Py_NewRef(Py_None);
done:
    free(around);
    arrays_release(arrays, ARRAYS);
    return result;
}
