/* Features of words and names that tables of log-odds give: winnow.features.tokens. */
#include "core.h"

/* Write total, mean, lowest and highest log-odds of the words of each block; 0, or -1 where words or blocks are none. */
static int write_words(const Array *blocks, const Array *words, const Array *odds, float *rows, Py_ssize_t m)
{
    const int64_t *block = ITEMS(*blocks, int64_t), *word = ITEMS(*words, int64_t);
    Py_ssize_t k = 0, b;
    for (b = 0; b < m; b++) {
        double total = 0, lowest = 0, highest = 0;
        Py_ssize_t begin = k;
        for (; k < words->length && block[k] == b; k++) {
            double each;
            if (word[k] < 0 || word[k] >= odds->length) {
                return -1;
            }
            each = ITEMS(*odds, float)[word[k]];
            total += each;
            lowest = each < lowest ? each : lowest;
            highest = each > highest ? each : highest;
        }
        rows[b] = (float)total;
        rows[m + b] = (float)(total / (double)(k > begin ? k - begin : 1));
        rows[2 * m + b] = (float)lowest;
        rows[3 * m + b] = (float)highest;
    }
    return k == words->length ? 0 : -1;
}

/* word_features(word_block: int64[w], word: int64[w], odds: float32[size], rows: float32[4, m]); a block's words stand
   together, in the order of the blocks. */
PyObject *core_word_features(PyObject *module, PyObject *arguments)
{
    enum { BLOCK, WORD, ODDS, ROWS, ARRAYS };
    static const char *const names[ARRAYS] = {"word_block", "word", "odds", "rows"};
    static const int sizes[ARRAYS] = {8, 8, 4, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO", &objects[0], &objects[1], &objects[2], &objects[3])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, ROWS) < 0) {
        goto done;
    }
    if (arrays[BLOCK].length != arrays[WORD].length || arrays[ROWS].length % 4
        || write_words(&arrays[BLOCK], &arrays[WORD], &arrays[ODDS], ITEMS(arrays[ROWS], float), arrays[ROWS].length / 4)
               < 0) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of words");
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}

/* By element: log-odds of its own names, of those from the root down to it, and the least and most on that way. */
typedef struct {
    double own, closed, path, lowest, highest;
} Names;

static void follow_paths(Names *names, const int32_t *parent, const int32_t *end, Py_ssize_t n)
{
    double path = 0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        const Names *above = &names[parent[i] < 0 ? 0 : parent[i]];
        double own = names[i].own;
        names[end[i]].closed += own; /* there is one more than elements */
        path += own - names[i].closed;
        names[i].path = path;
        names[i].lowest = own < 0 ? own : 0;
        names[i].highest = own > 0 ? own : 0;
        names[i].lowest = above->lowest < names[i].lowest ? above->lowest : names[i].lowest;
        names[i].highest = above->highest > names[i].highest ? above->highest : names[i].highest;
    }
}

/* name_features(name_element: int64[k], name: int64[k], odds: float32[size], parent: int32[n], end: int32[n],
                 owner: int32[m], levels: int64[l, m], rows: float32[4 + l, m]) */
PyObject *core_name_features(PyObject *module, PyObject *arguments)
{
    enum { ELEMENT, NAME, ODDS, PARENT, END, OWNER, OF_LEVELS, ROWS, ARRAYS };
    static const char *const names_of[ARRAYS] = {"name_element", "name", "odds", "parent", "end", "owner", "levels", "rows"};
    static const int sizes[ARRAYS] = {8, 8, 4, 4, 4, 4, 8, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Names *names = NULL;
    const int32_t *parent, *end, *owner;
    const int64_t *element, *entry, *level;
    float *rows;
    Py_ssize_t n, m, i;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names_of, ARRAYS, ROWS) < 0) {
        goto done;
    }
    n = arrays[PARENT].length;
    m = arrays[OWNER].length;
    element = ITEMS(arrays[ELEMENT], int64_t);
    entry = ITEMS(arrays[NAME], int64_t);
    parent = ITEMS(arrays[PARENT], int32_t);
    end = ITEMS(arrays[END], int32_t);
    owner = ITEMS(arrays[OWNER], int32_t);
    level = ITEMS(arrays[OF_LEVELS], int64_t);
    rows = ITEMS(arrays[ROWS], float);
    if (arrays[NAME].length != arrays[ELEMENT].length || arrays[END].length != n
        || arrays[ROWS].length != 4 * m + arrays[OF_LEVELS].length || (m && arrays[OF_LEVELS].length % m)) {
        goto wrong;
    }
    if ((names = calloc((size_t)n + 1, sizeof(Names))) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (i = 0; i < arrays[ELEMENT].length; i++) {
        if (element[i] < 0 || element[i] >= n || entry[i] < 0 || entry[i] >= arrays[ODDS].length) {
            goto wrong;
        }
        names[element[i]].own += ITEMS(arrays[ODDS], float)[entry[i]];
    }
    for (i = 0; i < n; i++) {
        if (parent[i] < -1 || parent[i] >= i || end[i] <= i || end[i] > n) {
            goto wrong;
        }
    }
    follow_paths(names, parent, end, n);
    for (i = 0; i < m; i++) {
        const Names *own;
        if (owner[i] < 0 || owner[i] >= n) {
            goto wrong;
        }
        own = &names[owner[i]];
        rows[i] = (float)own->path;
        rows[m + i] = (float)own->lowest;
        rows[2 * m + i] = (float)own->highest;
        rows[3 * m + i] = (float)own->own;
    }
    for (i = 0; i < arrays[OF_LEVELS].length; i++) {
        if (level[i] < 0 || level[i] >= n) {
            goto wrong;
        }
        rows[4 * m + i] = (float)names[level[i]].path;
    }
    result = Py_NewRef(Py_None);
    goto done;
wrong:
    PyErr_SetString(PyExc_ValueError, "not the arrays of names");
done:
    free(names);
    arrays_release(arrays, ARRAYS);
    return result;
}
