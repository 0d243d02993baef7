/* Stretches of blocks around each block: the double of winnow.models.blocks.surroundings. */
#include "features.h"

enum { REACH = 2, CONTAINERS = 3, KINDS = CONTAINERS + 2 };

enum { OF_LEVELS, BLOCK_BEGIN, BLOCK_END, WORDS_OF, STRETCH_BEGIN, STRETCH_END, WEIGHT, SCALE, ARRAYS };

static void write_stretches(const Array *arrays, Py_ssize_t m, const double *totals)
{
    const int64_t *levels = ITEMS(arrays[OF_LEVELS], int64_t);
    int64_t *begin = ITEMS(arrays[STRETCH_BEGIN], int64_t), *end = ITEMS(arrays[STRETCH_END], int64_t);
    Py_ssize_t b, k;
    for (b = 0; b < m; b++) {
        begin[b] = b > REACH ? b - REACH : 0;
        end[b] = b + REACH + 1 < m ? b + REACH + 1 : m;
        for (k = 0; k < CONTAINERS; k++) {
            begin[(k + 1) * m + b] = ITEMS(arrays[BLOCK_BEGIN], int32_t)[levels[k * m + b]];
            end[(k + 1) * m + b] = ITEMS(arrays[BLOCK_END], int32_t)[levels[k * m + b]];
        }
        begin[(KINDS - 1) * m + b] = 0;
        end[(KINDS - 1) * m + b] = m;
    }
    for (k = 0; k < KINDS * m; k++) {
        ITEMS(arrays[SCALE], float)[k] = (float)(1 / most(totals[end[k]] - totals[begin[k]], 1e-6));
    }
}

/* surroundings(levels: int64[LEVELS, m], block_begin: int32[n], block_end: int32[n], words: float64[m],
                begin: int64[KINDS, m], end: int64[KINDS, m], weight: float32[m], scale: float32[KINDS, m]) */
PyObject *core_surroundings(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"levels", "block_begin", "block_end", "words", "begin", "end", "weight", "scale"};
    static const int sizes[ARRAYS] = {8, 4, 4, 8, 8, 8, 4, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    double *totals = NULL;
    Py_ssize_t m, b;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOO", &objects[OF_LEVELS], &objects[BLOCK_BEGIN], &objects[BLOCK_END],
                          &objects[WORDS_OF], &objects[STRETCH_BEGIN], &objects[STRETCH_END], &objects[WEIGHT],
                          &objects[SCALE])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, STRETCH_BEGIN) < 0) {
        goto done;
    }
    m = arrays[WORDS_OF].length;
    if (arrays[OF_LEVELS].length < CONTAINERS * m || arrays[BLOCK_END].length != arrays[BLOCK_BEGIN].length
        || arrays[STRETCH_BEGIN].length != KINDS * m || arrays[STRETCH_END].length != KINDS * m
        || arrays[WEIGHT].length != m || arrays[SCALE].length != KINDS * m) {
        goto wrong;
    }
    for (b = 0; b < CONTAINERS * m; b++) {
        int64_t element = ITEMS(arrays[OF_LEVELS], int64_t)[b];
        if (element < 0 || element >= arrays[BLOCK_BEGIN].length || ITEMS(arrays[BLOCK_BEGIN], int32_t)[element] < 0
            || ITEMS(arrays[BLOCK_END], int32_t)[element] < ITEMS(arrays[BLOCK_BEGIN], int32_t)[element]
            || ITEMS(arrays[BLOCK_END], int32_t)[element] > m) {
            goto wrong;
        }
    }
    if ((totals = malloc(sizeof(double) * ((size_t)m + 1))) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    totals[0] = 0;
    for (b = 0; b < m; b++) {
        double weight = sqrt(most(ITEMS(arrays[WORDS_OF], double)[b], 0.5));
        totals[b + 1] = totals[b] + weight;
        ITEMS(arrays[WEIGHT], float)[b] = (float)weight;
    }
    write_stretches(arrays, m, totals);
    result = Py_NewRef(Py_None);
    goto done;
wrong:
    PyErr_SetString(PyExc_ValueError, "not the arrays of blocks and their containers");
done:
    free(totals);
    arrays_release(arrays, ARRAYS);
    return result;
}

/* number_slices(begin: int64[k], end: int64[k], seed, first: int64[k], number: int32[k]) -> how many are different

   number: of each slice, equal ones alike, from 0 on; first: the first slice of each number. Both ends are below 2**32. */
PyObject *core_number_slices(PyObject *module, PyObject *arguments)
{
    enum { FROM, TO, FIRSTS, NUMBER, LENT };
    static const char *const names[LENT] = {"begin", "end", "first", "number"};
    static const int sizes[LENT] = {8, 8, 8, 4};
    PyObject *objects[LENT], *result = NULL;
    Array arrays[LENT] = {{{0}, 0, 0}};
    uint64_t *keys = NULL;
    unsigned long long seed;
    Py_ssize_t k, i;
    int32_t numbers;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOKOO", &objects[FROM], &objects[TO], &seed, &objects[FIRSTS], &objects[NUMBER])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, LENT, FIRSTS) < 0) {
        goto done;
    }
    k = arrays[FROM].length;
    if (arrays[TO].length != k || arrays[FIRSTS].length != k || arrays[NUMBER].length != k || k >= INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    if ((keys = malloc(sizeof(uint64_t) * (size_t)k + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (i = 0; i < k; i++) {
        keys[i] = (uint64_t)ITEMS(arrays[FROM], int64_t)[i] << 32 | (uint32_t)ITEMS(arrays[TO], int64_t)[i];
    }
    if ((numbers = number_keys(keys, k, seed, ITEMS(arrays[NUMBER], int32_t))) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    for (i = k - 1; i >= 0; i--) {
        ITEMS(arrays[FIRSTS], int64_t)[ITEMS(arrays[NUMBER], int32_t)[i]] = i;
    }
    result = PyLong_FromLong(numbers);
done:
    free(keys);
    arrays_release(arrays, LENT);
    return result;
}
