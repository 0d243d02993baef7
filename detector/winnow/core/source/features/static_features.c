/* All features of a page's blocks that need nothing learned, in the order of winnow.features.blocks.STATIC_NAMES. */
#include "features.h"

/* Divide a text into lines, of which there have to be as many as expected. */
static int read_lines(const char *text, Py_ssize_t size, Line *lines, Py_ssize_t count)
{
    const char *at = text, *end = text + size;
    Py_ssize_t line;
    for (line = 0; line < count; line++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        if ((feed == NULL) != (line == count - 1)) {
            return 0;
        }
        lines[line].begin = at;
        lines[line].length = (int32_t)((feed ? feed : end) - at);
        at = feed ? feed + 1 : end;
    }
    return 1;
}

static int are_attributes(const int32_t *first, Py_ssize_t attributes, const int32_t *begin, Py_ssize_t elements)
{
    Py_ssize_t i;
    if (begin[0] != 0 || begin[elements] != attributes) {
        return 0;
    }
    for (i = 0; i < elements; i++) {
        if (begin[i] > begin[i + 1]) {
            return 0;
        }
    }
    for (i = 0; i < attributes; i++) {
        if (first[i] < 0 || first[i] >= attributes) {
            return 0;
        }
    }
    return 1;
}

/* Room for everything that a page's features need; the lines come first, since pointers are the widest. */
static char *allocate(Features *f, Line **lines)
{
    size_t n = (size_t)f->page.n, m = (size_t)f->page.m, r = (size_t)f->page.r;
    size_t size = 2 * m * sizeof(Line) + 8 * (COUNTS * (r + 1 + m) + n)
                  + 4 * (COUNTED_SETS * (n + 1) + n + 3 * m + (GROUPS + 1) * m) + n + 64;
    char *memory = calloc(1, size), *at = memory;
    if (memory == NULL) {
        return NULL;
    }
#define TAKE(to, type, count) (to = (type *)(void *)at, at += sizeof(type) * (count))
    TAKE(*lines, Line, 2 * m);
    TAKE(f->totals, int64_t, COUNTS * (r + 1));
    TAKE(f->counts, int64_t, COUNTS * m);
    TAKE(f->signature, int64_t, n);
    TAKE(f->tag_sums, int32_t, COUNTED_SETS * (n + 1));
    TAKE(f->alike, int32_t, n);
    TAKE(f->owner, int32_t, m);
    TAKE(f->repeats, int32_t, m);
    TAKE(f->place, int32_t, m);
    TAKE(f->enclosing, int32_t, (GROUPS + 1) * m);
    TAKE(f->hidden, uint8_t, n);
#undef TAKE
    f->lines = *lines;
    f->lowered = *lines + m;
    return memory;
}

static int write_rows(Features *f, float *rows, int64_t *levels)
{
    Py_ssize_t m = f->page.m;
    features_wording(f, rows);
    rows += WORDING_ROWS * m;
    features_position(f, rows);
    rows += POSITION_ROWS * m;
    if (features_containers(f, rows, levels) < 0) {
        return -1;
    }
    rows += CONTAINER_ROWS * m;
    features_neighbours(f, rows);
    rows += NEIGHBOUR_ROWS * m;
    return features_signatures(f, rows);
}

/* static_features(page, tag_flags: uint32[T], tag_group: int8[T], kinds: int64[8, r + 1], first: int32[a],
                   attribute_begin: int32[n + 1], class_signature: int64[a], hides: bool[a], properties,
                   overlap: int32[m], lines, lowered, title, seed,
                   rows: float32[STATIC_ROWS, m], of_page: float32[PAGE_FEATURES], words: float64[m],
                   levels: int64[LEVELS, m], owner: int32[m])

   lines, lowered: texts of the blocks with line feeds between them, as they are and in lower case. */
PyObject *core_static_features(PyObject *module, PyObject *arguments)
{
    enum { FLAGS, GROUP, KINDS, FIRST, BEGIN, SIGNATURE, HIDES, PROPERTIES, OVERLAP, ROWS, OF_PAGE, OF_WORDS, OF_LEVELS,
           OWNER, ARRAYS };
    static const char *const names[ARRAYS] = {"tag_flags", "tag_group", "kinds", "first", "attribute_begin",
                                              "class_signature", "hides", "properties", "overlap", "rows", "of_page",
                                              "words", "levels", "owner"};
    static const int sizes[ARRAYS] = {4, 1, 8, 4, 4, 8, 1, 1, 4, 4, 4, 8, 8, 4};
    PyObject *objects[ARRAYS], *page, *lines, *lowered, *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Features f;
    Line *all_lines;
    const char *text, *lower;
    char *memory = NULL;
    Py_ssize_t size, lower_size, title, n, m, a, i;
    unsigned long long seed;
    int failed, fits;
    (void)module;
    memset(&f, 0, sizeof f);
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOOOUUnKOOOOO", &page, &objects[FLAGS], &objects[GROUP], &objects[KINDS],
                          &objects[FIRST], &objects[BEGIN], &objects[SIGNATURE], &objects[HIDES], &objects[PROPERTIES],
                          &objects[OVERLAP], &lines, &lowered, &title, &seed, &objects[ROWS], &objects[OF_PAGE],
                          &objects[OF_WORDS], &objects[OF_LEVELS], &objects[OWNER])
        || (text = PyUnicode_AsUTF8AndSize(lines, &size)) == NULL
        || (lower = PyUnicode_AsUTF8AndSize(lowered, &lower_size)) == NULL) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, ROWS) < 0
        || page_borrow(&f.page, page, arrays[FLAGS].length) < 0) {
        goto done;
    }
    n = f.page.n;
    m = f.page.m;
    a = arrays[FIRST].length;
    fits = arrays[GROUP].length == arrays[FLAGS].length && arrays[KINDS].length == 8 * (f.page.r + 1)
           && arrays[BEGIN].length == n + 1 && arrays[SIGNATURE].length == a && arrays[HIDES].length == a
           && arrays[PROPERTIES].length == CODE_POINTS && arrays[OVERLAP].length == m
           && arrays[ROWS].length == STATIC_ROWS * m && arrays[OF_PAGE].length == PAGE_FEATURES
           && arrays[OF_WORDS].length == m && arrays[OF_LEVELS].length == LEVELS * m && arrays[OWNER].length == m
           && size < INT32_MAX && lower_size < INT32_MAX;
    for (i = 0; fits && i < arrays[GROUP].length; i++) {
        fits = ITEMS(arrays[GROUP], int8_t)[i] >= 0 && ITEMS(arrays[GROUP], int8_t)[i] <= GROUPS;
    }
    if (!fits || !are_attributes(ITEMS(arrays[FIRST], int32_t), a, ITEMS(arrays[BEGIN], int32_t), n)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of a page");
        goto done;
    }
    if ((memory = allocate(&f, &all_lines)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (!read_lines(text, size, all_lines, m) || !read_lines(lower, lower_size, all_lines + m, m)) {
        PyErr_SetString(PyExc_ValueError, "expected a line for each block");
        goto done;
    }
    f.flags = ITEMS(arrays[FLAGS], uint32_t);
    f.group = ITEMS(arrays[GROUP], int8_t);
    f.properties = ITEMS(arrays[PROPERTIES], uint8_t);
    f.overlap = ITEMS(arrays[OVERLAP], int32_t);
    f.title = (double)title;
    f.seed = seed;
    Py_BEGIN_ALLOW_THREADS
    failed = features_measure(&f, ITEMS(arrays[KINDS], int64_t), ITEMS(arrays[FIRST], int32_t),
                              ITEMS(arrays[BEGIN], int32_t), ITEMS(arrays[SIGNATURE], int64_t),
                              ITEMS(arrays[HIDES], uint8_t)) < 0
             || write_rows(&f, ITEMS(arrays[ROWS], float), ITEMS(arrays[OF_LEVELS], int64_t)) < 0;
    if (!failed) {
        features_of_page(&f, ITEMS(arrays[OF_PAGE], float));
        for (i = 0; i < m; i++) {
            ITEMS(arrays[OF_WORDS], double)[i] = (double)count_of(&f, i, WORDS);
            ITEMS(arrays[OWNER], int32_t)[i] = f.owner[i];
        }
    }
    Py_END_ALLOW_THREADS
    if (failed) {
        PyErr_NoMemory();
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    free(memory);
    page_release(&f.page);
    arrays_release(arrays, ARRAYS);
    return result;
}
