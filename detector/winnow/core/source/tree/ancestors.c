/* The nearest chosen ancestor of every node, and what is below chosen ones: see winnow.page.tree. */
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
