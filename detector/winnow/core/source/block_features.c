/* All features of a page's blocks that need nothing learned, in the order of winnow.features.blocks.STATIC_NAMES: what they
   are computed from is measured here, once per page, and feature_rows.c writes them. */
#include "block_features.h"

/* ---- Numbers for equal keys, by hash tables with a secret seed */

static uint64_t mixed(uint64_t key, uint64_t seed)
{
    key = (key ^ seed) * 0x9E3779B97F4A7C15u;
    key ^= key >> 32;
    key = (key + seed) * 0xBF58476D1CE4E5B9u;
    return key ^ key >> 29;
}

static int32_t *table_for(Py_ssize_t count, size_t *mask)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)count) {
        slots *= 2;
    }
    *mask = slots - 1;
    return calloc(slots, sizeof(int32_t)); /* 1 + the first that has a key */
}

/* Give an item the number of the first equal one, or the next new number. `slot` is its slot in the table. */
static void settle(int32_t *table, size_t at, Py_ssize_t thing, int32_t *number, int32_t *numbers)
{
    if (!table[at]) {
        table[at] = (int32_t)thing + 1;
        number[thing] = (*numbers)++;
    }
    else {
        number[thing] = number[table[at] - 1];
    }
}

static int32_t number_keys(const uint64_t *keys, Py_ssize_t count, uint64_t seed, int32_t *number)
{
    size_t mask;
    int32_t *table = table_for(count, &mask), numbers = 0;
    Py_ssize_t i;
    if (table == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        size_t at = mixed(keys[i], seed) & mask;
        while (table[at] && keys[table[at] - 1] != keys[i]) {
            at = (at + 1) & mask;
        }
        settle(table, at, i, number, &numbers);
    }
    free(table);
    return numbers;
}

static uint64_t hash_of(const Line *line, uint64_t seed)
{
    const char *at = line->begin;
    int32_t left = line->length;
    uint64_t hash = (uint64_t)(uint32_t)left, word;
    for (; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = mixed(hash ^ word, seed);
    }
    word = 0;
    memcpy(&word, at, (size_t)left);
    return mixed(hash ^ word, seed);
}

static int32_t number_lines(const Line *lines, Py_ssize_t count, uint64_t seed, int32_t *number)
{
    size_t mask;
    int32_t *table = table_for(count, &mask), numbers = 0;
    Py_ssize_t i;
    if (table == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        size_t at = hash_of(&lines[i], seed) & mask;
        while (table[at]) {
            const Line *known = &lines[table[at] - 1];
            if (known->length == lines[i].length && memcmp(known->begin, lines[i].begin, (size_t)known->length) == 0) {
                break;
            }
            at = (at + 1) & mask;
        }
        settle(table, at, i, number, &numbers);
    }
    free(table);
    return numbers;
}

/* ---- Counts of blocks, what encloses them, signatures, repeated texts */

double features_logarithms[LOGARITHMS];

void core_prepare_features(void)
{
    int i;
    for (i = 0; i < LOGARITHMS; i++) {
        features_logarithms[i] = log1p(i);
    }
}

/* Rows of the text's totals: the fields of TextStatistics. */
enum { OF_CHARACTERS, OF_WORDS, OF_LETTERS, OF_DIGITS, OF_UPPER_CASE, OF_COMMAS, OF_SENTENCE_ENDS, OF_SYMBOLS };

static void count(Features *f, const int64_t *kinds, uint8_t *linked, uint8_t *emphasised)
{
    static const int row_of[COUNTS] = {OF_CHARACTERS, OF_WORDS, -1, -1, OF_UPPER_CASE, OF_DIGITS, OF_COMMAS,
                                       OF_SENTENCE_ENDS, OF_SYMBOLS, OF_LETTERS};
    const PageArrays *page = &f->page;
    Py_ssize_t i, r = page->r;
    int k;
    for (i = 0; i < page->n; i++) {
        uint32_t flags = f->flags[page->tag[i]];
        linked[i] = (uint8_t)(HAS(flags, IS_LINK) || (i && linked[page->parent[i]]));
        emphasised[i] = (uint8_t)(HAS(flags, IS_EMPHASIS) || (i && emphasised[page->parent[i]]));
        f->hidden[i] = (uint8_t)(f->hidden[i] || (i && f->hidden[page->parent[i]]));
        for (k = 0; k < COUNTED_SETS; k++) {
            f->tag_sums[(i + 1) * COUNTED_SETS + k] = f->tag_sums[i * COUNTED_SETS + k] + (int32_t)HAS(flags, k);
        }
    }
    for (i = 0; i < r; i++) {
        int64_t characters = kinds[i + 1] - kinds[i], *before = f->totals + i * COUNTS, *to = before + COUNTS;
        for (k = 0; k < COUNTS; k++) {
            if (row_of[k] >= 0) {
                to[k] = kinds[row_of[k] * (r + 1) + i + 1];
            }
        }
        to[LINKED] = before[LINKED] + (linked[page->run_node[i]] ? characters : 0);
        to[EMPHASISED] = before[EMPHASISED] + (emphasised[page->run_node[i]] ? characters : 0);
    }
    for (k = 0; k < COUNTS; k++) {
        f->total[k] = larger((double)f->totals[r * COUNTS + k], 1);
    }
    for (i = 0; i < page->m; i++) {
        const int64_t *begin = f->totals + (Py_ssize_t)page->block_run_begin[i] * COUNTS;
        const int64_t *end = f->totals + (Py_ssize_t)page->block_run_end[i] * COUNTS;
        for (k = 0; k < COUNTS; k++) {
            f->counts[i * COUNTS + k] = end[k] - begin[k];
        }
        f->owner[i] = page->run_node[page->block_run_begin[i]];
    }
}

/* How many elements of each group of tags are around each block. */
static void enclose(Features *f)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, m = page->m;
    int g;
    for (i = 0; i < page->n; i++) {
        if (page->block_end[i] > page->block_begin[i]) {
            int32_t *row = f->enclosing + f->group[page->tag[i]] * m;
            row[page->block_begin[i]]++;
            if (page->block_end[i] < m) {
                row[page->block_end[i]]--;
            }
        }
    }
    for (g = 0; g <= GROUPS; g++) {
        int32_t *row = f->enclosing + g * m;
        for (i = 1; i < m; i++) {
            row[i] = row[i] + row[i - 1];
        }
    }
}

/* For each item, count the items with the same number. */
static int count_alike(const int32_t *number, Py_ssize_t count, int32_t numbers, int32_t *alike)
{
    int32_t *sizes = calloc((size_t)numbers + 1, sizeof(int32_t));
    Py_ssize_t i;
    if (sizes == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        sizes[number[i]]++;
    }
    for (i = 0; i < count; i++) {
        alike[i] = sizes[number[i]];
    }
    free(sizes);
    return 0;
}

static int compare(Features *f, uint64_t *keys, int32_t *number)
{
    const PageArrays *page = &f->page;
    int32_t numbers;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        keys[i] = (uint64_t)(page->parent[i] + (int64_t)1) * ((uint64_t)1 << 41) + (uint64_t)f->signature[i];
    }
    if ((numbers = number_keys(keys, page->n, f->seed, number)) < 0
        || count_alike(number, page->n, numbers, f->alike) < 0) {
        return -1;
    }
    if ((numbers = number_lines(f->lowered, page->m, f->seed, number)) < 0
        || count_alike(number, page->m, numbers, f->repeats) < 0) {
        return -1;
    }
    for (i = 0; i < page->m; i++) {
        Py_ssize_t own = f->owner[i], parent = own ? page->parent[own] : 0, above = parent ? page->parent[parent] : 0;
        uint64_t around = (uint64_t)f->signature[own] * 31 + (uint64_t)f->signature[parent] * 7
                          + (uint64_t)f->signature[above] * 3 + (uint64_t)page->depth[own];
        f->repeats[i]--;
        keys[i] = around * 17 + (uint64_t)page->tag[page->block_node[i]];
    }
    f->places = number_keys(keys, page->m, f->seed, f->place);
    return f->places < 0 ? -1 : 0;
}

static int measure(Features *f, const int64_t *kinds, const int32_t *first, const int32_t *attribute_begin,
                   const int64_t *class_signature, const uint8_t *hides)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, more = page->n > page->m ? page->n : page->m;
    uint64_t *keys = malloc((sizeof(uint64_t) + sizeof(int32_t)) * (size_t)more + 2 * (size_t)page->n + 8);
    int32_t *number = (int32_t *)(void *)(keys + more), k;
    uint8_t *linked = (uint8_t *)(number + more);
    int result;
    if (keys == NULL) {
        return -1;
    }
    for (i = 0; i < page->n; i++) {
        uint64_t signature = 0;
        for (k = attribute_begin[i]; k < attribute_begin[i + 1]; k++) {
            signature += (uint64_t)class_signature[first[k]];
            f->hidden[i] |= hides[first[k]];
        }
        f->signature[i] = (int64_t)(signature * 257 + (uint64_t)page->tag[i]);
    }
    count(f, kinds, linked, linked + page->n);
    enclose(f);
    result = compare(f, keys, number);
    free(keys);
    return result;
}

/* ---- All features */

/* Split a text into lines; fails unless there are as many as expected. */
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

/* Allocate all arrays at once; the lines come first, since they need the widest alignment. */
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
PyObject *core_static_features(PyObject *Py_UNUSED(module), PyObject *arguments)
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
    if (!fits || !are_attributes(&arrays[FIRST], &arrays[BEGIN])) {
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
    failed = measure(&f, ITEMS(arrays[KINDS], int64_t), ITEMS(arrays[FIRST], int32_t),
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
