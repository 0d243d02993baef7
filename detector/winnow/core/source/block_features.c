/* All features of a page's blocks that need nothing learned, in the order of winnow.features.STATIC_NAMES: what they
   are computed from is measured here, once per page, and feature_rows.c writes them, those of containers and of kinds of
   places once. */
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

/* Sign each class at the place of its first occurrence: 1 + a checksum of it with "#" for every number. */
static void sign_classes(const AttributeValues *values, const Array *classes, int64_t *signature)
{
    static const unsigned char number = '#';
    Py_ssize_t i;
    for (i = 0; i < classes->length; i++) {
        int64_t at = ITEMS(*classes, int64_t)[i];
        Span rest = value_of(values, at);
        uint32_t checksum = 0;
        while (rest.begin < rest.end) {
            const unsigned char *begin = rest.begin;
            while (rest.begin < rest.end && !is_digit(*rest.begin)) {
                rest.begin++;
            }
            checksum = core_crc32(checksum, begin, rest.begin);
            if (rest.begin < rest.end) {
                checksum = core_crc32(checksum, &number, &number + 1);
            }
            while (rest.begin < rest.end && is_digit(*rest.begin)) {
                rest.begin++;
            }
        }
        signature[values->place[at]] = 1 + (int64_t)checksum;
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

/* ---- All features */

/* Allocate all arrays at once, those of wide items first. */
static int allocate(Features *f, int64_t **class_signature)
{
    size_t n = (size_t)f->page.n, m = (size_t)f->page.m, a = (size_t)f->page.a;
    size_t size = 8 * (n + a) + 4 * (COUNTED_SETS * (n + 1) + n + m) + n + 64;
    char *at = f->memory = calloc(1, size);
    if (at == NULL) {
        return -1;
    }
    CARVE(at, f->signature, n);
    CARVE(at, *class_signature, a);
    CARVE(at, f->tag_sums, COUNTED_SETS * (n + 1));
    CARVE(at, f->alike, n);
    CARVE(at, f->repeats, m);
    CARVE(at, f->hidden, n);
    return 0;
}

static void features_release(Features *f)
{
    free(f->memory);
    page_release(&f->page);
}

/* static_features(page, tag_flags: uint32[T], tag_group: int8[T], totals: int64[r + 1, COUNTS], values, classes: int64[k],
                   hides: bool[a], properties, overlap: int32[m], lines, lowered, title, seed,
                   rows: float32[STATIC_ROWS, m], containers: int32[LEVELS, m], described: float32[n, OF_CONTAINER],
                   tags: float32[n, CONTAINER_TAGS], place: int32[m], of_place: float32[m, OF_PLACE],
                   of_page: float32[PAGE_FEATURES])

   totals: of count_kinds; those inside links and emphasis are written. classes: numbers of the values that are classes.
   hides: by first attribute, whether it hides its element.
   lines, lowered: texts of the blocks with line feeds between them, as they are and in lower case.
   described, tags: of the elements that are containers. place: the first block in the same kind of place.
   of_place: of those. */
PyObject *core_static_features(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(features_release) Features f = {0};
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array flags = {0}, group = {0}, totals = {0}, classes = {0}, hides = {0}, properties = {0};
    SCOPED(array_release) Array overlap = {0}, of_page = {0};
    SCOPED(array_release) Array rows = {0}, containers = {0}, described = {0}, tags = {0}, place = {0}, of_place = {0};
    Span lines, lowered;
    int64_t *class_signature;
    Py_ssize_t m, i;
    float *row;
    int failed;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&O&O&O&O&dKO&O&O&O&O&O&O&", in_page, &f.page, in_4, &flags, in_1, &group,
                          out_8, &totals, in_values, &values, in_8, &classes, in_1, &hides, in_properties, &properties, in_4,
                          &overlap, in_text, &lines, in_text, &lowered, &f.title, &f.seed, out_4, &rows, out_4, &containers,
                          out_4, &described, out_4, &tags, out_4, &place, out_4, &of_place, out_4, &of_page)) {
        return NULL;
    }
    m = f.page.m;
    if (!check_arrays(f.page.tags <= flags.length && group.length == flags.length && totals.length == COUNTS * (f.page.r + 1)
                      && values.places <= f.page.a && are_below(&classes, values.d) && hides.length == f.page.a
                      && overlap.length == m && rows.length == STATIC_ROWS * m && containers.length == LEVELS * m
                      && described.length == OF_CONTAINER * f.page.n && tags.length == CONTAINER_TAGS * f.page.n
                      && place.length == m && of_place.length == OF_PLACE * m && of_page.length == PAGE_FEATURES)) {
        return NULL;
    }
    for (i = 0; i < group.length; i++) {
        if (!check_arrays(ITEMS(group, int8_t)[i] >= 0 && ITEMS(group, int8_t)[i] <= GROUPS)) {
            return NULL;
        }
    }
    if (allocate(&f, &class_signature) < 0) {
        return PyErr_NoMemory();
    }
    f.totals = ITEMS(totals, int64_t);
    f.flags = ITEMS(flags, uint32_t);
    f.group = ITEMS(group, int8_t);
    f.properties = ITEMS(properties, uint8_t);
    f.overlap = ITEMS(overlap, int32_t);
    f.place = ITEMS(place, int32_t);
    f.enclosing = ITEMS(rows, float) + ENCLOSING * m;
    Py_BEGIN_ALLOW_THREADS
    sign_classes(&values, &classes, class_signature);
    failed = measure(&f, class_signature, ITEMS(hides, uint8_t), lowered) < 0;
    if (!failed) {
        row = ITEMS(rows, float);
        features_wording(&f, lines, row);
        features_position(&f, row += WORDING_ROWS * m);
        failed = features_containers(&f, row += POSITION_ROWS * m, ITEMS(containers, int32_t), ITEMS(described, float),
                                     ITEMS(tags, float)) < 0
                 || features_places(&f, ITEMS(of_place, float)) < 0;
        features_neighbours(&f, row + LEVELS * m);
        features_of_page(&f, ITEMS(of_page, float));
    }
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}
