/* Boosted trees: winnow.models.decision.Trees. */
#include "core.h"

enum { ROWS, ROOT, FEATURE, THRESHOLD, CHILD, LEAF_VALUE, SUMS, ARRAYS };

/* Whether all numbers of nodes and columns lie inside what they are of. */
static int is_sound(const Array *arrays, Py_ssize_t width)
{
    Py_ssize_t s = arrays[FEATURE].length, i;
    if (width < 1 || arrays[ROWS].length != width * arrays[SUMS].length || arrays[THRESHOLD].length != s
        || arrays[CHILD].length != 2 * s || arrays[LEAF_VALUE].length != s) {
        return 0;
    }
    for (i = 0; i < arrays[ROOT].length; i++) {
        if (ITEMS(arrays[ROOT], int32_t)[i] < 0 || ITEMS(arrays[ROOT], int32_t)[i] >= s) {
            return 0;
        }
    }
    for (i = 0; i < s; i++) {
        if (ITEMS(arrays[FEATURE], int32_t)[i] < 0 || ITEMS(arrays[FEATURE], int32_t)[i] >= width) {
            return 0;
        }
    }
    for (i = 0; i < 2 * s; i++) {
        if (ITEMS(arrays[CHILD], int32_t)[i] < 0 || ITEMS(arrays[CHILD], int32_t)[i] >= s) {
            return 0;
        }
    }
    return 1;
}

static double sum_of(const Array *arrays, const float *row, int depth)
{
    const int32_t *feature = ITEMS(arrays[FEATURE], int32_t), *child = ITEMS(arrays[CHILD], int32_t);
    const float *threshold = ITEMS(arrays[THRESHOLD], float);
    double sum = 0;
    Py_ssize_t t;
    for (t = 0; t < arrays[ROOT].length; t++) {
        int32_t node = ITEMS(arrays[ROOT], int32_t)[t];
        int step;
        for (step = 0; step < depth; step++) {
            node = child[2 * node + (row[feature[node]] > threshold[node])];
        }
        sum += ITEMS(arrays[LEAF_VALUE], float)[node];
    }
    return sum;
}

/* predict_trees(rows: float32[k, d], root: int32[t], feature: int32[s], threshold: float32[s], child: int32[s, 2],
                 value: float32[s], depth, width: d, sums: float64[k]) */
PyObject *core_predict_trees(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"rows", "root", "feature", "threshold", "child", "value", "sums"};
    static const int sizes[ARRAYS] = {4, 4, 4, 4, 4, 4, 8};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t width, k;
    int depth;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOinO", &objects[ROWS], &objects[ROOT], &objects[FEATURE], &objects[THRESHOLD],
                          &objects[CHILD], &objects[LEAF_VALUE], &depth, &width, &objects[SUMS])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, SUMS) < 0) {
        goto done;
    }
    if (!is_sound(arrays, width)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of trees");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (k = 0; k < arrays[SUMS].length; k++) {
        ITEMS(arrays[SUMS], double)[k] = sum_of(arrays, ITEMS(arrays[ROWS], float) + k * width, depth);
    }
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}
