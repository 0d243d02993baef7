/* Which units of a page are counted, which of them are leaves, and the frequencies of units from those of their leaves, for
   winnow.counting. */
#include "page.h"

typedef struct {
    PageArrays page;
    Array has_ink;
    int32_t *before; /* r + 1: runs with ink before each run */
    int32_t *places; /* of the runs with ink */
} InkCounts;

/* Borrow page and runs; 0, or -1 with an exception set. ink_release() is needed in both cases. */
static int ink_borrow(InkCounts *ink, PyObject *tuple, PyObject *object, Py_ssize_t tags)
{
    Py_ssize_t k;
    if (page_borrow(&ink->page, tuple, tags) < 0 || array_borrow(&ink->has_ink, object, 1, 0, "has_ink") < 0) {
        return -1;
    }
    if (ink->has_ink.length != ink->page.r) {
        PyErr_SetString(PyExc_ValueError, "has_ink: of another length than expected");
        return -1;
    }
    if ((ink->before = malloc(2 * sizeof(int32_t) * ((size_t)ink->page.r + 1))) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    ink->places = ink->before + ink->page.r + 1;
    ink->before[0] = 0;
    for (k = 0; k < ink->page.r; k++) {
        ink->places[ink->before[k]] = (int32_t)k;
        ink->before[k + 1] = ink->before[k] + (ITEMS(ink->has_ink, uint8_t)[k] != 0);
    }
    return 0;
}

static void ink_release(InkCounts *ink)
{
    free(ink->before);
    array_release(&ink->has_ink);
    page_release(&ink->page);
}

static int has_text(const InkCounts *ink, Py_ssize_t element)
{
    return ink->before[ink->page.run_end[element]] > ink->before[ink->page.run_begin[element]];
}

/* Whether the text of an element, which has some, begins and ends where blocks do. */
static int is_whole_lines(const InkCounts *ink, Py_ssize_t element, const uint8_t *borders)
{
    int32_t first = ink->places[ink->before[ink->page.run_begin[element]]];
    int32_t last = ink->places[ink->before[ink->page.run_end[element]] - 1];
    return (borders[first] & 1) && (borders[last] & 2);
}

/* countable(page, unseen: bool[tags], media: bool[tags], whole_page: bool[tags], block_level: bool[tags],
             has_ink: bool[r], chosen: bool[n + m]) */
PyObject *core_countable(PyObject *module, PyObject *arguments)
{
    enum { UNSEEN, MEDIA, WHOLE, BLOCK_LEVEL, CHOSEN, ARRAYS };
    static const char *const names[ARRAYS] = {"unseen", "media", "whole_page", "block_level", "chosen"};
    static const int sizes[ARRAYS] = {1, 1, 1, 1, 1};
    PyObject *tuple, *object, *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    InkCounts ink;
    uint8_t *borders = NULL, *chosen;
    int32_t *media = NULL;
    Py_ssize_t i;
    int32_t until = 0;
    (void)module;
    memset(&ink, 0, sizeof ink);
    if (!PyArg_ParseTuple(arguments, "OOOOOOO", &tuple, &objects[UNSEEN], &objects[MEDIA], &objects[WHOLE],
                          &objects[BLOCK_LEVEL], &object, &objects[CHOSEN])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, CHOSEN) < 0
        || ink_borrow(&ink, tuple, object, arrays[UNSEEN].length) < 0) {
        goto done;
    }
    if (arrays[MEDIA].length != arrays[UNSEEN].length || arrays[WHOLE].length != arrays[UNSEEN].length
        || arrays[BLOCK_LEVEL].length != arrays[UNSEEN].length || arrays[CHOSEN].length != ink.page.n + ink.page.m) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    borders = calloc((size_t)ink.page.r + 1, 1);
    media = calloc((size_t)ink.page.n + 1, sizeof(int32_t));
    if (borders == NULL || media == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    chosen = ITEMS(arrays[CHOSEN], uint8_t);
    for (i = 0; i < ink.page.m; i++) {
        borders[ink.page.block_run_begin[i]] |= 1;
        borders[ink.page.block_run_end[i] - 1] |= 2;
        chosen[ink.page.n + i] = 1;
    }
    for (i = 0; i < ink.page.n; i++) { /* first whether it is seen */
        int16_t tag = ink.page.tag[i];
        if (ITEMS(arrays[UNSEEN], uint8_t)[tag] && ink.page.end[i] > until) {
            until = ink.page.end[i];
        }
        chosen[i] = i >= until;
        media[i + 1] = media[i] + (chosen[i] && ITEMS(arrays[MEDIA], uint8_t)[tag]);
    }
    for (i = 0; i < ink.page.n; i++) {
        int16_t tag = ink.page.tag[i];
        chosen[i] = chosen[i] && !ITEMS(arrays[WHOLE], uint8_t)[tag]
                    && (has_text(&ink, i) ? ITEMS(arrays[BLOCK_LEVEL], uint8_t)[tag] || is_whole_lines(&ink, i, borders)
                                            : media[ink.page.end[i]] > media[i]);
    }
    result = Py_NewRef(Py_None);
done:
    free(borders);
    free(media);
    ink_release(&ink);
    arrays_release(arrays, ARRAYS);
    return result;
}

/* leaves(page, has_ink: bool[r], countable: bool[n + m], leaf: bool[n + m]) */
PyObject *core_leaves(PyObject *module, PyObject *arguments)
{
    enum { COUNTABLE, LEAF, ARRAYS };
    static const char *const names[ARRAYS] = {"countable", "leaf"};
    static const int sizes[ARRAYS] = {1, 1};
    PyObject *tuple, *object, *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    InkCounts ink;
    uint8_t *leaf;
    Py_ssize_t i, units;
    int32_t next = INT32_MAX; /* the nearest countable element without text behind */
    (void)module;
    memset(&ink, 0, sizeof ink);
    if (!PyArg_ParseTuple(arguments, "OOOO", &tuple, &object, &objects[COUNTABLE], &objects[LEAF])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, LEAF) < 0
        || ink_borrow(&ink, tuple, object, PY_SSIZE_T_MAX) < 0) {
        goto done;
    }
    units = ink.page.n + ink.page.m;
    if (arrays[COUNTABLE].length != units || arrays[LEAF].length != units) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    leaf = ITEMS(arrays[LEAF], uint8_t);
    memcpy(leaf, arrays[COUNTABLE].view.buf, (size_t)units);
    for (i = ink.page.n - 1; i >= 0; i--) {
        int without_text = leaf[i] && !has_text(&ink, i);
        leaf[i] = without_text && next >= ink.page.end[i]; /* the innermost of several */
        next = without_text ? (int32_t)i : next;
    }
    result = Py_NewRef(Py_None);
done:
    ink_release(&ink);
    arrays_release(arrays, ARRAYS);
    return result;
}

/* Set the frequency of each element to the lowest of its leaves: its own, those of its runs and of its children. */
static void follow_up(const InkCounts *ink, const uint8_t *countable, const uint8_t *leaf, const int64_t *df, int64_t *least)
{
    const PageArrays *page = &ink->page;
    Py_ssize_t i, block;
    for (i = 0; i < page->n; i++) {
        least[i] = leaf[i] ? df[i] : INT64_MAX;
    }
    for (block = 0; block < page->m; block++) {
        int32_t run;
        least[page->n + block] = df[page->n + block];
        for (run = page->block_run_begin[block]; run < page->block_run_end[block]; run++) {
            if (ITEMS(ink->has_ink, uint8_t)[run] && df[page->n + block] < least[page->run_node[run]]) {
                least[page->run_node[run]] = df[page->n + block];
            }
        }
    }
    for (i = page->n - 1; i > 0; i--) {
        if (least[i] < least[page->parent[i]]) {
            least[page->parent[i]] = least[i];
        }
    }
    for (i = 0; i < page->n; i++) {
        if (!countable[i] || least[i] == INT64_MAX) {
            least[i] = 0;
        }
    }
}

/* leaf_frequencies(page, has_ink: bool[r], countable: bool[n + m], leaf: bool[n + m], df: int64[n + m],
                    least: int64[n + m]) */
PyObject *core_leaf_frequencies(PyObject *module, PyObject *arguments)
{
    enum { COUNTABLE, LEAF, FREQUENCIES, LEAST, ARRAYS };
    static const char *const names[ARRAYS] = {"countable", "leaf", "df", "least"};
    static const int sizes[ARRAYS] = {1, 1, 8, 8};
    PyObject *tuple, *object, *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    InkCounts ink;
    int k;
    (void)module;
    memset(&ink, 0, sizeof ink);
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &tuple, &object, &objects[COUNTABLE], &objects[LEAF],
                          &objects[FREQUENCIES], &objects[LEAST])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, LEAST) < 0
        || ink_borrow(&ink, tuple, object, PY_SSIZE_T_MAX) < 0) {
        goto done;
    }
    for (k = 0; k < ARRAYS; k++) {
        if (arrays[k].length != ink.page.n + ink.page.m) {
            PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
            goto done;
        }
    }
    follow_up(&ink, ITEMS(arrays[COUNTABLE], uint8_t), ITEMS(arrays[LEAF], uint8_t), ITEMS(arrays[FREQUENCIES], int64_t),
              ITEMS(arrays[LEAST], int64_t));
    result = Py_NewRef(Py_None);
done:
    ink_release(&ink);
    arrays_release(arrays, ARRAYS);
    return result;
}
