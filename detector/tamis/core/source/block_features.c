/* What the features of a page's blocks are computed from, measured once per page; feature_rows.c writes them. */
#include "block_features.h"

/* ---- Elements, and what their attributes say */

float features_logarithms[LOGARITHMS];

void core_prepare_features(void)
{
    int i;
    for (i = 0; i < LOGARITHMS; i++) {
        features_logarithms[i] = (float)log1p(i);
    }
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

/* Read what the distinct attributes say of their elements, at the indices of their first occurrence. The signature of a class
   is 1 + a checksum of it with "#" for every number. */
static void read_values(Features *f)
{
    const AttributeValues *values = &f->page.values;
    Py_ssize_t i;
    for (i = 0; i < values->d; i++) {
        Span value = value_of(values, i);
        int use = ITEMS(f->arrays[USES], uint8_t)[values->name_of[i]];
        int is_true = value.end - value.begin == 4 && !memcmp(value.begin, "true", 4);
        if (use & IS_CLASS) {
            f->class_signature[values->first_index[i]] = 1 + (int64_t)core_crc32(0, f->stable, without_numbers(value, f->stable));
        }
        f->hides[values->first_index[i]] = use & IS_HIDING || (use & HIDES_IF_TRUE && is_true)
                                     || (use & IS_STYLE && is_display_none(value));
    }
}

/* Describe the elements, and count the characters in links and emphasis. */
static void look_at_elements(Features *f)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, r = page->r;
    int32_t k;
    for (i = 0; i < page->n; i++) {
        uint32_t flags = sets_of(page->tag[i]);
        Element *element = &f->elements[i], *above = &f->elements[i ? page->parent[i] : 0];
        uint64_t classes = 0;
        int group = core_tables.tag_groups[page->tag[i]];
        for (k = page->attribute_begin[i]; k < page->attribute_begin[i + 1]; k++) {
            classes += (uint64_t)f->class_signature[page->first[k]];
            element->hidden |= f->hides[page->first[k]];
        }
        element->signature = classes * 257 + (uint64_t)page->tag[i];
        element->hidden |= above->hidden;
        element->linked = (uint8_t)(above->linked | HAS(flags, IS_LINK));
        element->emphasised = (uint8_t)(above->emphasised | HAS(flags, IS_EMPHASIS));
        element->enclosing = above->enclosing;
        if (group < GROUPS && ENCLOSING_OF(above->enclosing, group) < MAX_ENCLOSING) {
            element->enclosing += (uint64_t)1 << 2 * group;
        }
        above->children += i > 0;
        for (k = 0; k < COUNTED_SETS; k++) {
            f->tag_sums[(i + 1) * COUNTED_SETS + k] = f->tag_sums[i * COUNTED_SETS + k] + (int32_t)HAS(flags, k);
        }
    }
    for (i = 0; i < r; i++) {
        uint32_t *before = f->totals + i * COUNTS, *to = before + COUNTS, characters = to[CHARACTERS] - before[CHARACTERS];
        const Element *around = &f->elements[page->run_node[i]];
        to[LINKED] = before[LINKED] + (around->linked ? characters : 0);
        to[EMPHASISED] = before[EMPHASISED] + (around->emphasised ? characters : 0);
    }
    for (k = 0; k < COUNTS; k++) {
        f->total[k] = larger((double)f->totals[r * COUNTS + k], 1);
    }
}

/* ---- What is alike */

/* Find the first item of the same key as each, by a hash table; 0, or -1 without memory. */
static int find_first(const uint64_t *keys, Py_ssize_t count, int32_t *first)
{
    size_t mask = slots_for((size_t)count) - 1;
    int32_t *table = calloc(mask + 1, sizeof(int32_t)); /* 1 + the first that has a key */
    Py_ssize_t i;
    if (table == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        size_t at = mixed(keys[i], core_seed) & mask;
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

/* Count the siblings of equal tags and classes. */
static int count_siblings(Features *f, uint64_t *keys, int32_t *first)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        keys[i] = (uint64_t)(page->parent[i] + (int64_t)1) * ((uint64_t)1 << 41) + f->elements[i].signature;
    }
    if (find_first(keys, page->n, first) < 0) {
        return -1;
    }
    for (i = 0; i < page->n; i++) {
        f->elements[first[i]].alike++;
    }
    for (i = 0; i < page->n; i++) {
        f->elements[i].alike = f->elements[first[i]].alike;
    }
    return 0;
}

/* Count the blocks of equal text. */
static int count_repeats(Features *f, uint64_t *keys, int32_t *first)
{
    Py_ssize_t b, m = f->page.m;
    Span lines = f->lowered;
    for (b = 0; b < m; b++) {
        keys[b] = hash_of(next_line(&lines), core_seed);
    }
    if (find_first(keys, m, first) < 0) {
        return -1;
    }
    for (b = 0; b < m; b++) {
        f->blocks[first[b]].repeats += first[b] != b;
    }
    for (b = 0; b < m; b++) {
        f->blocks[b].repeats = f->blocks[first[b]].repeats;
    }
    return 0;
}

/* Number the kinds of regions of blocks; returns how many there are, or -1 without memory. */
static Py_ssize_t number_regions(Features *f, uint64_t *keys, int32_t *first)
{
    const PageArrays *page = &f->page;
    Py_ssize_t b, regions = 0;
    for (b = 0; b < page->m; b++) {
        Py_ssize_t own = f->blocks[b].owner, parent = own ? page->parent[own] : 0, above = parent ? page->parent[parent] : 0;
        uint64_t around = f->elements[own].signature * 31 + f->elements[parent].signature * 7
                          + f->elements[above].signature * 3 + (uint64_t)page->depth[own];
        keys[b] = around * 17 + (uint64_t)page->tag[page->block_node[b]];
    }
    if (find_first(keys, page->m, first) < 0) {
        return -1;
    }
    for (b = 0; b < page->m; b++) {
        f->blocks[b].region = first[b] == b ? (int32_t)regions++ : f->blocks[first[b]].region;
    }
    return regions;
}

/* ---- Blocks: whose they are, what encloses them, and what stands before and after them

   A block has the names and enclosing elements of its owner: the label of a checkbox before a line says nothing of it. */

/* Find the owners. */
static void find_owners(Features *f)
{
    const PageArrays *page = &f->page;
    Py_ssize_t b, k;
    for (b = 0; b < page->m; b++) {
        uint32_t most = 0;
        f->blocks[b].owner = page->run_node[page->block_run_begin[b]];
        for (k = page->block_run_begin[b]; k < page->block_run_end[b]; k++) {
            const uint32_t *before = f->totals + k * COUNTS, *after = before + COUNTS;
            uint32_t letters = after[LETTERS] + after[DIGITS] - before[LETTERS] - before[DIGITS];
            if (letters > most) {
                most = letters;
                f->blocks[b].owner = page->run_node[k];
            }
        }
        f->blocks[b].enclosing = f->elements[f->blocks[b].owner].enclosing;
    }
}

static void look_at_blocks(Features *f)
{
    const PageArrays *page = &f->page;
    int32_t heading = -1, last_long = -1, next_long = -1, b;
    uint32_t long_characters = 0;
    find_containers(page, f->container_of);
    f->h1 = -1;
    for (b = 0; b < page->m; b++) {
        Block *block = &f->blocks[b];
        if (is_enclosed(f, H1, b)) {
            f->h1_blocks++;
            f->h1 = f->h1 < 0 || count_of(f, b, CHARACTERS) > count_of(f, f->h1, CHARACTERS) ? b : f->h1;
        }
        if (is_long(f, b)) {
            last_long = b;
            long_characters += (uint32_t)count_of(f, b, CHARACTERS);
        }
        block->last_heading = heading = in_heading(f, b) ? b : heading;
        block->last_long = last_long;
        block->long_characters = long_characters;
        block->container = f->container_of[page->block_node[b]];
    }
    for (b = (int32_t)page->m - 1; b >= 0; b--) {
        f->blocks[b].next_long = next_long = f->blocks[b].last_long == b ? b : next_long;
    }
}

/* ---- Memory, and a page's arguments */

void features_release(Features *f)
{
    free(f->small);
    free(f->zeroed);
    free(f->scratch);
    free(f->regions);
    arrays_release(f->arrays, BORROWED);
    Py_XDECREF(f->lower);
}

/* Allocate the arrays, those of wide items first; 0, or -1 without memory. */
static int allocate(Features *f)
{
    size_t n = (size_t)f->page.n, m = (size_t)f->page.m, a = (size_t)f->page.a, r = (size_t)f->page.r;
    size_t names = MAX_NAME_PARTS * a, words = MAX_WORDS * m, values = (size_t)f->page.values.begin[f->page.values.d];
    char *zeroed = f->zeroed = calloc(1, sizeof(Block) * m + sizeof(Element) * (n + 1) + 9 * a);
    char *scratch = f->scratch = malloc(4 * (COUNTS * (r + 1) + COUNTED_SETS * (n + 1) + n + (OF_CONTAINER + 1) * KEPT)
                                        + 4 * (m + names) + 2 * (words + names) + values);
    if (zeroed == NULL || scratch == NULL) {
        return -1;
    }
    CARVE(zeroed, f->blocks, m);
    CARVE(zeroed, f->elements, n + 1);
    CARVE(zeroed, f->class_signature, a);
    CARVE(zeroed, f->hides, a);
    CARVE(scratch, f->totals, COUNTS * (r + 1));
    CARVE(scratch, f->tag_sums, COUNTED_SETS * (n + 1));
    CARVE(scratch, f->container_of, n);
    CARVE(scratch, f->described, OF_CONTAINER * KEPT);
    CARVE(scratch, f->described_container, KEPT);
    CARVE(scratch, f->words_per_block, m);
    CARVE(scratch, f->name_elements, names);
    CARVE(scratch, f->words, words);
    CARVE(scratch, f->names, names);
    CARVE(scratch, f->stable, values);
    memset(f->totals, 0, sizeof *f->totals * COUNTS);
    memset(f->described_container, -1, sizeof *f->described_container * KEPT);
    memset(f->tag_sums, 0, sizeof *f->tag_sums * COUNTED_SETS);
    return 0;
}

/* Whether the arrays fit the page and each other. */
static int fit(const Features *f)
{
    const Array *arrays = f->arrays;
    Py_ssize_t i;
    int fitting = arrays[USES].length >= f->page.values.names && arrays[WORD_ODDS].length == TABLE_SIZE
                  && arrays[NAME_ODDS].length == TABLE_SIZE;
    for (i = 0; i < core_tables.tags; i++) {
        fitting &= core_tables.tag_groups[i] >= 0 && core_tables.tag_groups[i] <= GROUPS;
    }
    return fitting;
}

int features_read(Features *f)
{
    size_t characters = (size_t)(f->lines.end - f->lines.begin);
    PyObject *text;
    if (!check_arrays(fit(f))) {
        return -1;
    }
    if ((f->small = malloc(characters + 1)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    f->lowered = (Span){f->small, f->small + characters};
    if (!lower_ascii(f->small, f->lines)) {
        text = decoded(f->lines);
        f->lower = text ? PyObject_CallMethod(text, "lower", NULL) : NULL;
        Py_XDECREF(text);
        return f->lower != NULL && in_text(f->lower, &f->lowered) ? 0 : -1;
    }
    return 0;
}

int features_measure(Features *f)
{
    size_t n = (size_t)f->page.n, m = (size_t)f->page.m, more = n > m ? n : m;
    SCOPED(free_memory) uint64_t *keys = malloc((more + 1) * (sizeof(uint64_t) + sizeof(int32_t)));
    int32_t *first = (int32_t *)(void *)(keys + more + 1);
    Py_ssize_t regions;
    if (keys == NULL || allocate(f) < 0 || read_names(f) < 0) {
        return -1;
    }
    read_words(f);
    read_borders(f);
    read_values(f);
    count_kinds(f->page.text, f->page.run_offset, f->page.r, f->totals, COUNTS);
    look_at_elements(f);
    find_owners(f);
    if (count_siblings(f, keys, first) < 0 || count_repeats(f, keys, first) < 0
        || (regions = number_regions(f, keys, first)) < 0) {
        return -1;
    }
    look_at_blocks(f);
    describe_for_neighbours(f);
    sum_odds(f);
    return describe_regions(f, regions);
}

/* block_features(PAGE_FORMAT, rows: float32[m, FEATURES])
   -> words_per_block: int32, words: uint16, name_elements: int32, names: uint16; words and names are entries of tables */
PyObject *core_block_features(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(features_release) Features f = {0};
    SCOPED(array_release) Array rows = {0};
    Py_ssize_t b, m;
    int failed;
    if (!PyArg_ParseTuple(arguments, PAGE_FORMAT "O&", PAGE_ARGUMENTS(&f), out_4, &rows)
        || !check_arrays(rows.length == FEATURES * f.page.m) || features_read(&f) < 0) {
        return NULL;
    }
    m = f.page.m;
    Py_BEGIN_ALLOW_THREADS
    failed = features_measure(&f) < 0;
    for (b = 0; !failed && b < m; b++) {
        features_of_block(&f, b, ITEMS(rows, float) + b * FEATURES);
    }
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return Py_BuildValue("NNNN", PyByteArray_FromStringAndSize((const char *)f.words_per_block, 4 * m),
                         PyByteArray_FromStringAndSize((const char *)f.words, 2 * f.word_count),
                         PyByteArray_FromStringAndSize((const char *)f.name_elements, 4 * f.name_count),
                         PyByteArray_FromStringAndSize((const char *)f.names, 2 * f.name_count));
}
