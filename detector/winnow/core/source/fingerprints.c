/* The fingerprints of the units of a page, for winnow.fingerprints. */
#include "fingerprints.h"

/* Hash the next characters, those of a run, case folded and with white space collapsed, none at either end; 0 without ink.
   Tokens are those of each UTF-16 code, then of each after white space. */
static uint64_t hash_run(Span *text, int64_t characters, const uint8_t *properties, const uint64_t *tokens, uint64_t base)
{
    uint64_t sum = 0, power = 1;
    uint32_t gap = 0;
    while (characters-- > 0 && text->begin < text->end) {
        uint32_t code = *text->begin < 0x80 ? *text->begin++ : next_character(&text->begin, text->end);
        if (property_of(properties, code) & WHITE_SPACE) {
            gap = power == 1 ? 0 : CODES;
            continue;
        }
        if (code >= CODES) {
            sum += tokens[first_half(code) + gap] * power;
            power *= base;
            code = second_half(code);
            gap = 0;
        }
        sum += tokens[code + gap] * power;
        power *= base;
        gap = 0;
    }
    if (power == 1) {
        return 0;
    }
    sum = mix(sum);
    return sum ? sum : 1; /* 0 means no text */
}

/* The fingerprints of units, in one walk over events: an element opens, a run of text, an element closes. */

enum {
    TAG_TOKENS, BLOCK_LEVEL, UNSEEN, FIRST, BEGIN, TOKENS, MARKS, UNKNOWN, OFFSET, PROPERTIES, CHARACTERS, HASHES, ARRAYS
};

typedef struct {
    PageArrays page;
    Array arrays[ARRAYS];
    uint64_t base, inverse, close, block;
    int input;
    uint64_t *run_hashes;  /* r: of the text of each run */
    Start *starts;         /* of n + m units */
    uint64_t sum, power;
    Start here, border;    /* now, and after the last border of a block-level element */
    Py_ssize_t run, begun, ended; /* runs met, blocks begun and ended */
    int hidden;            /* open elements whose content is not hashed */
} Walk;

static void walk_release(Walk *walk)
{
    free(walk->run_hashes);
    free(walk->starts);
    page_release(&walk->page);
    arrays_release(walk->arrays, ARRAYS);
}

static void add(Walk *walk, uint64_t token)
{
    if (!walk->hidden) {
        walk->sum += token * walk->power;
        walk->power *= walk->base;
        walk->here.sum = walk->sum;
        walk->here.inverse *= walk->inverse;
    }
}

static uint64_t hash_since(const Walk *walk, const Start *start)
{
    return (walk->sum - start->sum) * start->inverse;
}

/* End the blocks that have begun. */
static void end_blocks(Walk *walk)
{
    for (; walk->ended < walk->begun; walk->ended++) {
        Py_ssize_t unit = walk->page.n + walk->ended;
        uint64_t of_tag = ITEMS(walk->arrays[TAG_TOKENS], uint64_t)[walk->page.tag[walk->page.block_node[walk->ended]]];
        ITEMS(walk->arrays[HASHES], uint64_t)[unit] =
            mix(hash_since(walk, &walk->starts[unit]) + mix(of_tag + walk->block));
    }
}

static void read_runs(Walk *walk, Py_ssize_t until)
{
    for (; walk->run < until; walk->run++) {
        while (walk->begun < walk->page.m && walk->page.block_run_begin[walk->begun] <= walk->run) {
            walk->starts[walk->page.n + walk->begun++] = walk->border;
        }
        if (walk->run_hashes[walk->run]) {
            add(walk, walk->run_hashes[walk->run]);
        }
    }
}

/* Token of an element: its name and its attributes in any order, without what users type into a control. */
static uint64_t token_of(const Walk *walk, Py_ssize_t element)
{
    const uint64_t *tokens = ITEMS(walk->arrays[TOKENS], uint64_t);
    const uint8_t *marks = ITEMS(walk->arrays[MARKS], uint8_t);
    const int32_t *first = ITEMS(walk->arrays[FIRST], int32_t), *begin = ITEMS(walk->arrays[BEGIN], int32_t);
    uint64_t sum = 0, values = 0;
    int is_labelled = walk->page.tag[element] != walk->input;
    int32_t k;
    for (k = begin[element]; k < begin[element + 1]; k++) {
        sum += tokens[first[k]];
        values += marks[first[k]] & IS_VALUE ? tokens[first[k]] : 0;
        is_labelled |= marks[first[k]] & IS_LABELLED;
    }
    sum = (is_labelled ? sum : sum - values) ^ ITEMS(walk->arrays[UNKNOWN], uint64_t)[element];
    return mix(ITEMS(walk->arrays[TAG_TOKENS], uint64_t)[walk->page.tag[element]] + sum);
}

static int is_border(const Walk *walk, Py_ssize_t element)
{
    return element == 0 || ITEMS(walk->arrays[BLOCK_LEVEL], uint8_t)[walk->page.tag[element]];
}

static void open_element(Walk *walk, Py_ssize_t element)
{
    if (is_border(walk, element)) {
        end_blocks(walk);
    }
    walk->starts[element] = walk->here;
    walk->hidden += ITEMS(walk->arrays[UNSEEN], uint8_t)[walk->page.tag[element]] != 0;
    if (!walk->hidden) {
        add(walk, token_of(walk, element));
    }
    if (is_border(walk, element)) {
        walk->border = walk->here;
    }
}

static void close_element(Walk *walk, Py_ssize_t element)
{
    read_runs(walk, walk->page.run_end[element]);
    if (is_border(walk, element)) {
        end_blocks(walk);
    }
    add(walk, walk->close);
    ITEMS(walk->arrays[HASHES], uint64_t)[element] = mix(hash_since(walk, &walk->starts[element]));
    walk->hidden -= ITEMS(walk->arrays[UNSEEN], uint8_t)[walk->page.tag[element]] != 0;
    if (is_border(walk, element)) {
        walk->border = walk->here;
    }
}

static void walk_page(Walk *walk)
{
    const PageArrays *page = &walk->page;
    Py_ssize_t i;
    int32_t current = -1;
    walk->power = walk->here.inverse = walk->border.inverse = 1;
    for (i = 0; i <= page->n; i++) {
        while (current >= 0 && page->end[current] <= i) {
            close_element(walk, current);
            current = page->parent[current];
        }
        if (i < page->n) {
            read_runs(walk, page->run_begin[i]);
            open_element(walk, i);
            current = (int32_t)i;
        }
    }
}

static int is_sound(const Walk *walk)
{
    const Array *arrays = walk->arrays;
    const int32_t *first = ITEMS(arrays[FIRST], int32_t), *begin = ITEMS(arrays[BEGIN], int32_t);
    Py_ssize_t a = arrays[FIRST].length, n = walk->page.n, i;
    if (arrays[BLOCK_LEVEL].length != arrays[TAG_TOKENS].length || arrays[UNSEEN].length != arrays[TAG_TOKENS].length
        || arrays[BEGIN].length != n + 1 || arrays[TOKENS].length != a || arrays[MARKS].length != a
        || arrays[UNKNOWN].length != n || arrays[OFFSET].length != walk->page.r + 1
        || arrays[CHARACTERS].length != 2 * CODES || arrays[HASHES].length != n + walk->page.m) {
        return 0;
    }
    for (i = 0; i < a; i++) {
        if (first[i] < 0 || first[i] >= a) {
            return 0;
        }
    }
    for (i = 0; i < n; i++) {
        if (begin[i] < 0 || begin[i + 1] < begin[i] || begin[i + 1] > a) {
            return 0;
        }
    }
    return 1;
}

/* node_fingerprints(page, tag_tokens: uint64[tags], block_level: bool[tags], unseen: bool[tags], first: int32[a],
                     attribute_begin: int32[n + 1], tokens: uint64[a], marks: uint8[a], unknown: uint64[n], text,
                     run_offset: int64[r + 1], properties, characters: uint64[2 * CODES], base, inverse, close, block,
                     input, hashes: uint64[n + m])

   tokens, marks: of attribute_tokens. unknown: of the names of elements that have no tag, 0 for others. */
PyObject *core_node_fingerprints(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(walk_release) Walk walk = {0};
    PyObject *page;
    Span text;
    unsigned long long base, inverse, close, block;
    Array *arrays = walk.arrays;
    Py_ssize_t r;
    if (!PyArg_ParseTuple(arguments, "OO&O&O&O&O&O&O&O&O&O&O&O&KKKKiO&", &page, in_8, &arrays[TAG_TOKENS], in_1,
                          &arrays[BLOCK_LEVEL], in_1, &arrays[UNSEEN], in_4, &arrays[FIRST], in_4, &arrays[BEGIN], in_8,
                          &arrays[TOKENS], in_1, &arrays[MARKS], in_8, &arrays[UNKNOWN], in_text, &text, in_8,
                          &arrays[OFFSET], in_properties, &arrays[PROPERTIES], in_8, &arrays[CHARACTERS], &base, &inverse,
                          &close, &block, &walk.input, out_8, &arrays[HASHES])
        || page_borrow(&walk.page, page, arrays[TAG_TOKENS].length) < 0 || !check_arrays(is_sound(&walk))) {
        return NULL;
    }
    walk.run_hashes = malloc(sizeof(uint64_t) * (size_t)walk.page.r + 1);
    walk.starts = calloc((size_t)(walk.page.n + walk.page.m) + 1, sizeof(Start));
    if (walk.run_hashes == NULL || walk.starts == NULL) {
        return PyErr_NoMemory();
    }
    walk.base = base;
    walk.inverse = inverse;
    walk.close = close;
    walk.block = block;
    Py_BEGIN_ALLOW_THREADS
    for (r = 0; r < walk.page.r; r++) {
        walk.run_hashes[r] = hash_run(&text, ITEMS(arrays[OFFSET], int64_t)[r + 1] - ITEMS(arrays[OFFSET], int64_t)[r],
                                      ITEMS(arrays[PROPERTIES], uint8_t), ITEMS(arrays[CHARACTERS], uint64_t), base);
    }
    walk_page(&walk);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
