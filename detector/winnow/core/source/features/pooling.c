/* Weighted means of rows over slices: the double of winnow.models.blocks.pooling. */
#include "core.h"

#define COLUMNS 16 /* taken together, so that running totals of long pages stay small */

static void pool(const float *values, Py_ssize_t rows, Py_ssize_t width, const float *weight, const int64_t *begin,
                 const int64_t *end, const float *scale, Py_ssize_t slices, float *means, double *totals)
{
    Py_ssize_t column, i;
    int k;
    for (column = 0; column < width; column += COLUMNS) {
        int count = width - column < COLUMNS ? (int)(width - column) : COLUMNS;
        for (i = 0; i < rows; i++) {
            const float *from = values + i * width + column;
            const double *before = totals + i * COLUMNS;
            double *after = totals + (i + 1) * COLUMNS, w = weight[i];
            for (k = 0; k < count; k++) {
                after[k] = before[k] + w * from[k];
            }
        }
        for (i = 0; i < slices; i++) {
            const double *first = totals + begin[i] * COLUMNS, *behind = totals + end[i] * COLUMNS;
            float *to = means + i * width + column;
            double s = scale[i];
            for (k = 0; k < count; k++) {
                to[k] = (float)((behind[k] - first[k]) * s);
            }
        }
    }
}

/* pool(values: float32[m, w], weight: float32[m], begin: int64[k], end: int64[k], scale: float32[k],
        means: float32[k, w]) */
PyObject *core_pool(PyObject *module, PyObject *arguments)
{
    enum { VALUES, WEIGHT, BEGIN, END, SCALE, MEANS, ARRAYS };
    static const char *const names[ARRAYS] = {"values", "weight", "begin", "end", "scale", "means"};
    static const int sizes[ARRAYS] = {4, 4, 8, 8, 4, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t rows, slices, width, i;
    double *totals = NULL;
    int k;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5])) {
        return NULL;
    }
    for (k = 0; k < ARRAYS; k++) {
        if (array_borrow(&arrays[k], objects[k], sizes[k], k == MEANS, names[k]) < 0) {
            goto done;
        }
    }
    rows = arrays[WEIGHT].length;
    slices = arrays[BEGIN].length;
    width = rows ? arrays[VALUES].length / rows : 0;
    if (arrays[VALUES].length != rows * width || arrays[END].length != slices || arrays[SCALE].length != slices
        || arrays[MEANS].length != slices * width) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    for (i = 0; i < slices; i++) {
        int64_t from = ITEMS(arrays[BEGIN], int64_t)[i], to = ITEMS(arrays[END], int64_t)[i];
        if (from < 0 || to < from || to > rows) {
            PyErr_SetString(PyExc_ValueError, "a slice outside the rows");
            goto done;
        }
    }
    if ((totals = calloc(((size_t)rows + 1) * COLUMNS, sizeof(double))) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    pool(ITEMS(arrays[VALUES], float), rows, width, ITEMS(arrays[WEIGHT], float), ITEMS(arrays[BEGIN], int64_t),
         ITEMS(arrays[END], int64_t), ITEMS(arrays[SCALE], float), slices, ITEMS(arrays[MEANS], float), totals);
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    free(totals);
    for (k = 0; k < ARRAYS; k++) {
        array_release(&arrays[k]);
    }
    return result;
}
