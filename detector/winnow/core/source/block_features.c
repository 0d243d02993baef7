/* All features of a page's blocks that need nothing learned, in the order of winnow.features.STATIC_NAMES: what they
   are computed from is measured here, once per page, and feature_rows.c writes them. */
#include "block_features.h"

/* Find the first item of the same key as each, by a hash table; 0, or -1 without memory. */
static int find_first(const uint64_t *keys, Py_ssize_t count, uint64_t seed, int32_t *first)
{
    size_t mask = slots_for((size_t)count) - 1;
    int32_t *table = calloc(mask + 1, sizeof(int32_t)); /* 1 + the first that has a key */
    Py_ssize_t i;
    if (table == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        size_t at = mixed(keys[i], seed) & mask;
        while (table[at] && keys[table[at] - 1] != keys[i]) {
            at = (at + 1) & mask;
        }
        if (!table[at]) {
            table[at] = (int32_t)i + 1;
        }
        first[i] = table[at] - 1;
    }
    free(table);
    return 0;
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

static void count(Features *f, uint8_t *linked, uint8_t *emphasised)
{
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
        int64_t *before = f->totals + i * COUNTS, *to = before + COUNTS, characters = to[CHARACTERS] - before[CHARACTERS];
        to[LINKED] = before[LINKED] + (linked[page->run_node[i]] ? characters : 0);
        to[EMPHASISED] = before[EMPHASISED] + (emphasised[page->run_node[i]] ? characters : 0);
    }
    for (k = 0; k < COUNTS; k++) {
        f->total[k] = larger((double)f->totals[r * COUNTS + k], 1);
    }
}

/* For each item, count the items with the same first one. */
static void count_alike(const int32_t *first, Py_ssize_t count, int32_t *alike)
{
    Py_ssize_t i;
    for (i = 0; i < count; i++) {
        alike[first[i]]++;
    }
    for (i = 0; i < count; i++) {
        alike[i] = alike[first[i]];
    }
}

/* Count the siblings of equal tags and classes, and the blocks of equal text, and find the kinds of places. */
static int compare(Features *f, Span lowered, uint64_t *keys, int32_t *first)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        keys[i] = (uint64_t)(page->parent[i] + (int64_t)1) * ((uint64_t)1 << 41) + (uint64_t)f->signature[i];
    }
    if (find_first(keys, page->n, f->seed, first) < 0) {
        return -1;
    }
    count_alike(first, page->n, f->alike);
    for (i = 0; i < page->m; i++) {
        keys[i] = hash_of(next_line(&lowered), f->seed);
    }
    if (find_first(keys, page->m, f->seed, first) < 0) {
        return -1;
    }
    count_alike(first, page->m, f->repeats);
    for (i = 0; i < page->m; i++) {
        Py_ssize_t own = owner_of(page, i), parent = own ? page->parent[own] : 0, above = parent ? page->parent[parent] : 0;
        uint64_t around = (uint64_t)f->signature[own] * 31 + (uint64_t)f->signature[parent] * 7
                          + (uint64_t)f->signature[above] * 3 + (uint64_t)page->depth[own];
        f->repeats[i]--;
        keys[i] = around * 17 + (uint64_t)page->tag[page->block_node[i]];
    }
    return find_first(keys, page->m, f->seed, f->place);
}

/* Whether a style says "display:none", with any spaces in it. */
static int is_display_none(Span style)
{
    static const char wanted[] = "display:none";
    for (; style.begin < style.end; style.begin++) {
        const unsigned char *at = style.begin;
        int found = 0;
        while (at < style.end && (*at == wanted[found] || (found && *at == ' '))) { /* linear: no space comes first */
            found += *at++ != ' ';
            if (!wanted[found]) {
                return 1;
            }
        }
    }
    return 0;
}

/* Read what the distinct attributes say of their elements, at the places of their first occurrence. The signature of a class
   is 1 + a checksum of it with "#" for every number; `stable` has room for any value. */
static void read_values(const AttributeValues *values, const uint8_t *uses, unsigned char *stable, int64_t *class_signature,
                        uint8_t *hides)
{
    Py_ssize_t i;
    for (i = 0; i < values->d; i++) {
        Span value = value_of(values, i);
        int use = uses[values->name_of[i]], is_true = value.end - value.begin == 4 && !memcmp(value.begin, "true", 4);
        if (use & IS_CLASS) {
            class_signature[values->place[i]] = 1 + (int64_t)core_crc32(0, stable, without_numbers(value, stable));
        }
        hides[values->place[i]] = use & IS_HIDING || (use & HIDES_IF_TRUE && is_true)
                                  || (use & IS_STYLE && is_display_none(value));
    }
}

static int measure(Features *f, const int64_t *class_signature, const uint8_t *hides, Span lowered)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, more = page->n > page->m ? page->n : page->m;
    uint64_t *keys = malloc((sizeof(uint64_t) + sizeof(int32_t)) * (size_t)more + 2 * (size_t)page->n + 8);
    int32_t *first = (int32_t *)(void *)(keys + more), k;
    uint8_t *linked = (uint8_t *)(first + more);
    int result;
    if (keys == NULL) {
        return -1;
    }
    for (i = 0; i < page->n; i++) {
        uint64_t signature = 0;
        for (k = page->attribute_begin[i]; k < page->attribute_begin[i + 1]; k++) {
            signature += (uint64_t)class_signature[page->first[k]];
            f->hidden[i] |= hides[page->first[k]];
        }
        f->signature[i] = (int64_t)(signature * 257 + (uint64_t)page->tag[i]);
    }
    count(f, linked, linked + page->n);
    result = compare(f, lowered, keys, first);
    free(keys);
    return result;
}

/* Write the words of each block, and of each element, then each block, its weight in smoothing: the root of a block's words,
   none for elements; and whether it is in the tree: blocks, and elements where the text branches. */
static void weigh(const Features *f, double *words, int64_t *weight, uint8_t *in_tree)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        int32_t held = page->block_end[i] - page->block_begin[i], above = i ? page->parent[i] : -1;
        *in_tree++ = held > 1 && (above < 0 || held != page->block_end[above] - page->block_begin[above]);
        *weight++ = 0;
    }
    for (i = 0; i < page->m; i++) {
        words[i] = (double)count_of(f, i, WORDS);
        *weight++ = (int64_t)larger(rint(sqrt(words[i])), 1);
        *in_tree++ = 1;
    }
}

/* ---- All features */

enum { RUN_OFFSET, FLAGS, GROUP, PROPERTIES, USES, ROWS, OF_PAGE, WORDS_OF, WEIGHT, IN_TREE, WORDS_PER_BLOCK, ARRAYS };

/* What a call borrows, and the memory of its own. */
typedef struct {
    Features features;
    AttributeValues values;
    Array arrays[ARRAYS];
    PyObject *lower; /* the text in lower case, if it needs Python */
    int64_t *class_signature; /* a */
    uint8_t *hides;           /* a */
    char *scratch;            /* memory of what follows, never zeroed as it is large */
    int64_t *tokens;          /* of names and words */
    int32_t *elements;        /* of names */
    uint32_t *names, *words;
    unsigned char *lowered;   /* of the text */
    unsigned char *stable;    /* of a value, without its numbers */
} Task;

static void release(Task *task)
{
    free(task->features.memory);
    free(task->scratch);
    page_release(&task->features.page);
    values_release(&task->values);
    arrays_release(task->arrays, ARRAYS);
    Py_XDECREF(task->lower);
}

/* Allocate the arrays, those of wide items first; 0, or -1 without memory. */
static int allocate(Task *task, size_t characters)
{
    Features *f = &task->features;
    size_t n = (size_t)f->page.n, m = (size_t)f->page.m, a = (size_t)f->page.a, r = (size_t)f->page.r;
    size_t names = MAX_NAME_PARTS * a, words = MAX_WORDS * m;
    size_t values = (size_t)task->values.begin[task->values.d], room = 16 * names + 12 * words + characters + values;
    size_t zeros = 8 * (n + a + COUNTS * (r + 1)) + 4 * (COUNTED_SETS * (n + 1) + n + 3 * m) + n + a;
    char *at = f->memory = calloc(1, zeros), *scratch = task->scratch = malloc(room + 1);
    if (at == NULL || scratch == NULL) {
        return -1;
    }
    CARVE(scratch, task->tokens, names + words);
    CARVE(scratch, task->elements, names);
    CARVE(scratch, task->names, names);
    CARVE(scratch, task->words, words);
    CARVE(scratch, task->lowered, characters);
    CARVE(scratch, task->stable, values);
    CARVE(at, f->signature, n);
    CARVE(at, task->class_signature, a);
    CARVE(at, f->totals, COUNTS * (r + 1));
    CARVE(at, f->tag_sums, COUNTED_SETS * (n + 1));
    CARVE(at, f->alike, n);
    CARVE(at, f->repeats, m);
    CARVE(at, f->overlap, m);
    CARVE(at, f->place, m);
    CARVE(at, f->hidden, n);
    CARVE(at, task->hides, a);
    return 0;
}

/* Whether the arrays fit the page and each other. */
static int fit(const Task *task)
{
    const PageArrays *page = &task->features.page;
    const Array *arrays = task->arrays;
    Py_ssize_t m = page->m, i;
    int fitting = page->tags <= arrays[FLAGS].length && arrays[GROUP].length == arrays[FLAGS].length
                  && arrays[RUN_OFFSET].length == page->r + 1 && task->values.places <= page->a
                  && arrays[USES].length >= task->values.names && arrays[ROWS].length == STATIC_ROWS * m
                  && arrays[OF_PAGE].length == PAGE_FEATURES && arrays[WORDS_OF].length == m
                  && arrays[WEIGHT].length == page->n + m && arrays[IN_TREE].length == page->n + m
                  && arrays[WORDS_PER_BLOCK].length == m;
    for (i = 0; i < arrays[GROUP].length; i++) {
        fitting &= ITEMS(arrays[GROUP], int8_t)[i] >= 0 && ITEMS(arrays[GROUP], int8_t)[i] <= GROUPS;
    }
    return fitting;
}

/* Write all features; 0, or -1 without memory. */
static int write_features(Task *task, Span text, Span lines, Span lowered)
{
    Features *f = &task->features;
    const Array *arrays = task->arrays;
    Py_ssize_t m = f->page.m;
    float *row = ITEMS(arrays[ROWS], float);
    f->enclosing = row + ENCLOSING * m;
    count_kinds(text, ITEMS(arrays[RUN_OFFSET], int64_t), f->page.r, f->properties, f->totals, COUNTS);
    read_values(&task->values, ITEMS(arrays[USES], uint8_t), task->stable, task->class_signature, task->hides);
    if (measure(f, task->class_signature, task->hides, lowered) < 0) {
        return -1;
    }
    weigh(f, ITEMS(arrays[WORDS_OF], double), ITEMS(arrays[WEIGHT], int64_t), ITEMS(arrays[IN_TREE], uint8_t));
    features_of_page(f, ITEMS(arrays[OF_PAGE], float));
    features_wording(f, lines, row);
    features_position(f, row += WORDING_ROWS * m);
    if (features_containers(f, row += POSITION_ROWS * m) < 0) {
        return -1;
    }
    features_neighbours(f, row += CONTAINER_ROWS * m);
    return features_places(f, row + NEIGHBOUR_ROWS * m);
}

/* Write the different tokens in ascending order, names before words; returns how many. */
static size_t list_tokens(Task *task, size_t names, size_t words)
{
    uint64_t present[2 * TABLE_SIZE / 64] = {0}, left; /* bits of tokens */
    size_t count = 0, i;
    for (i = 0; i < names + words; i++) {
        uint32_t token = i < names ? task->names[i] : TABLE_SIZE + task->words[i - names];
        present[token / 64] |= (uint64_t)1 << token % 64;
    }
    for (i = 0; i < 2 * TABLE_SIZE / 64; i++) {
        for (left = present[i]; left; left &= left - 1) {
            task->tokens[count++] = (int64_t)(64 * i) + __builtin_ctzll(left);
        }
    }
    return count;
}

/* block_features(page, values, uses: uint8[names], text, run_offset: int64[r + 1], lines, title, tag_flags: uint32[T],
                  tag_group: int8[T], properties, seed, rows: float32[STATIC_ROWS, m],
                  of_page: float32[PAGE_FEATURES], words: float64[m], weight: int64[n + m], in_tree: bool[n + m],
                  words_per_block: int32[m])
   -> words: uint32, elements: int32, names: uint32, tokens: int64

   uses: bits of each name of attributes. lines: texts of the blocks with line feeds between them. title: its different words
   in lower case with a line feed behind each. */
PyObject *core_block_features(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(release) Task task = {0};
    Features *f = &task.features;
    Array *arrays = task.arrays;
    PyObject *block_lines;
    Span text, title, lines, lowered;
    Py_ssize_t names;
    size_t words = 0, tokens = 0;
    int failed;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&UO&O&O&O&KO&O&O&O&O&O&", in_page, &f->page, in_values, &task.values, in_1,
                          &arrays[USES], in_text, &text, in_8, &arrays[RUN_OFFSET], &block_lines, in_text, &title, in_4,
                          &arrays[FLAGS], in_1, &arrays[GROUP], in_properties, &arrays[PROPERTIES], &f->seed, out_4,
                          &arrays[ROWS], out_4, &arrays[OF_PAGE], out_8, &arrays[WORDS_OF], out_8, &arrays[WEIGHT], out_1,
                          &arrays[IN_TREE], out_4, &arrays[WORDS_PER_BLOCK])
        || !in_text(block_lines, &lines) || !check_arrays(fit(&task))) {
        return NULL;
    }
    if (allocate(&task, (size_t)(lines.end - lines.begin)) < 0) {
        return PyErr_NoMemory();
    }
    f->flags = ITEMS(arrays[FLAGS], uint32_t);
    f->group = ITEMS(arrays[GROUP], int8_t);
    f->properties = ITEMS(arrays[PROPERTIES], uint8_t);
    lowered = (Span){task.lowered, task.lowered + (lines.end - lines.begin)};
    if (!lower_ascii(task.lowered, lines, f->properties)
        && ((task.lower = PyObject_CallMethod(block_lines, "lower", NULL)) == NULL || !in_text(task.lower, &lowered))) {
        return NULL;
    }
    names = read_names(f, &task.values, ITEMS(arrays[USES], uint8_t), task.elements, task.names);
    if (names < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    words = read_words(f, lowered, title, ITEMS(arrays[WORDS_PER_BLOCK], int32_t), task.words);
    tokens = list_tokens(&task, (size_t)names, words);
    failed = write_features(&task, text, lines, lowered) < 0;
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_NoMemory();
    }
    return Py_BuildValue("NNNN", PyByteArray_FromStringAndSize((const char *)task.words, (Py_ssize_t)(4 * words)),
                         PyByteArray_FromStringAndSize((const char *)task.elements, 4 * names),
                         PyByteArray_FromStringAndSize((const char *)task.names, 4 * names),
                         PyByteArray_FromStringAndSize((const char *)task.tokens, (Py_ssize_t)(8 * tokens)));
}
