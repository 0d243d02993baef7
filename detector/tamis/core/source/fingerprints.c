/* The fingerprints of the units of a page, for tamis.fingerprints. */
#include "fingerprints.h"

/* Hash the next characters, those of a run, case folded and with white space collapsed, none at either end; 0 without ink.
   Tokens are those of each UTF-16 code, then of each after white space. */
static uint64_t hash_run(Span *text, int64_t characters, uint64_t base)
{
    const uint64_t *tokens = core_tables.character_tokens;
    uint64_t sum = 0, power = 1;
    uint32_t gap = 0;
    while (characters-- > 0 && text->begin < text->end) {
        uint32_t code = *text->begin < 0x80 ? *text->begin++ : next_character(&text->begin, text->end);
        if (property_of(code) & WHITE_SPACE) {
            gap = power == 1 ? 0 : CODE_UNITS;
            continue;
        }
        if (code >= CODE_UNITS) {
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

typedef struct {
    const PageArrays *page;
    const uint64_t *tokens; /* the arguments */
    uint64_t *hashes;
    unsigned long long base, inverse, close, block;
    int input;
    uint8_t *marks;        /* a: of the attributes */
    uint64_t *run_hashes;  /* r: of the text of each run */
    Start *starts;         /* of n + m units */
    uint64_t power;
    Start here, border;    /* now, and after the last border of a block-level element */
    Py_ssize_t run, begun, ended; /* runs met, blocks begun and ended */
    int hidden;            /* open elements whose content is not hashed */
} Walk;

static void add(Walk *walk, uint64_t token)
{
    if (!walk->hidden) {
        walk->here.sum += token * walk->power;
        walk->power *= walk->base;
        walk->here.inverse *= walk->inverse;
    }
}

static uint64_t hash_since(const Walk *walk, const Start *start)
{
    return (walk->here.sum - start->sum) * start->inverse;
}

/* End the blocks that have begun. */
static void end_blocks(Walk *walk)
{
    for (; walk->ended < walk->begun; walk->ended++) {
        Py_ssize_t unit = walk->page->n + walk->ended;
        uint64_t of_tag = core_tables.tag_tokens[walk->page->tag[walk->page->block_node[walk->ended]]];
        walk->hashes[unit] =
            mix(hash_since(walk, &walk->starts[unit]) + mix(of_tag + walk->block));
    }
}

static void read_runs(Walk *walk, Py_ssize_t until)
{
    for (; walk->run < until; walk->run++) {
        while (walk->begun < walk->page->m && walk->page->block_run_begin[walk->begun] <= walk->run) {
            walk->starts[walk->page->n + walk->begun++] = walk->border;
        }
        if (walk->run_hashes[walk->run]) {
            add(walk, walk->run_hashes[walk->run]);
        }
    }
}

/* Token of an element: its name and its attributes in any order, without what users type into a control. */
static uint64_t token_of(const Walk *walk, Py_ssize_t element)
{
    uint64_t sum = 0, values = 0;
    int is_labelled = walk->page->tag[element] != walk->input;
    int32_t k;
    for (k = walk->page->attribute_begin[element]; k < walk->page->attribute_begin[element + 1]; k++) {
        int32_t first = walk->page->first[k];
        sum += walk->tokens[first];
        values += walk->marks[first] & IS_VALUE ? walk->tokens[first] : 0;
        is_labelled |= walk->marks[first] & IS_LABELLED;
    }
    sum = (is_labelled ? sum : sum - values) ^ walk->hashes[element];
    return mix(core_tables.tag_tokens[walk->page->tag[element]] + sum);
}

static int is_border(const Walk *walk, Py_ssize_t element)
{
    return element == 0 || (core_tables.tag_sets[walk->page->tag[element]] & TAG_BLOCK_LEVEL) != 0;
}

static void open_element(Walk *walk, Py_ssize_t element)
{
    if (is_border(walk, element)) {
        end_blocks(walk);
    }
    walk->starts[element] = walk->here;
    walk->hidden += (core_tables.tag_sets[walk->page->tag[element]] & TAG_IGNORED) != 0;
    if (!walk->hidden) {
        add(walk, token_of(walk, element));
    }
    if (is_border(walk, element)) {
        walk->border = walk->here;
    }
}

static void close_element(Walk *walk, Py_ssize_t element)
{
    read_runs(walk, walk->page->run_end[element]);
    if (is_border(walk, element)) {
        end_blocks(walk);
    }
    add(walk, walk->close);
    walk->hashes[element] = mix(hash_since(walk, &walk->starts[element]));
    walk->hidden -= (core_tables.tag_sets[walk->page->tag[element]] & TAG_IGNORED) != 0;
    if (is_border(walk, element)) {
        walk->border = walk->here;
    }
}

static void walk_page(Walk *walk)
{
    const PageArrays *page = walk->page;
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

/* node_fingerprints(page, (names: with line feeds between, kinds: uint8[names], lists: tuple of bytes, place),
                     (base, inverse, close, block, input), tokens: uint64[a], hashes: uint64[n + m])

   place: of the page, whether it is known, host, folder, address; UTF-8. tokens: written where attributes have one, by their
   first occurrence. hashes: of the names of elements without a tag, 0 for others; the fingerprints replace them. */
PyObject *core_node_fingerprints(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array kinds = {0}, tokens = {0}, hashes = {0};
    SCOPED(free_memory) char *memory = NULL;
    AttributeReader reader = {0};
    Span *lists = reader.lists;
    Walk walk = {0};
    Place *place = &reader.place;
    char *at;
    Py_ssize_t r;
    int failed;
    if (!PyArg_ParseTuple(arguments, "O&(O&O&(O&O&O&O&O&O&O&)(pO&O&O&))(KKKKi)O&O&", in_page, &page, in_text, &reader.names, in_1,
                          &kinds, in_bytes, &lists[0], in_bytes, &lists[1], in_bytes, &lists[2], in_bytes, &lists[3],
                          in_bytes, &lists[4], in_bytes, &lists[5], in_bytes, &lists[6], &place->is_known, in_bytes,
                          &place->host, in_bytes, &place->folder, in_bytes, &place->own, &walk.base, &walk.inverse,
                          &walk.close, &walk.block, &walk.input, out_8, &tokens, out_8, &hashes)
        || !check_arrays(page.values.names <= kinds.length && tokens.length == page.a && hashes.length == page.n + page.m)) {
        return NULL;
    }
    memory = at = calloc(sizeof(Start) * (size_t)(page.n + page.m) + 8 * (size_t)page.r + (size_t)page.a + 1, 1);
    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    CARVE(at, walk.starts, page.n + page.m);
    CARVE(at, walk.run_hashes, page.r);
    CARVE(at, walk.marks, page.a);
    walk.page = &page;
    walk.tokens = ITEMS(tokens, uint64_t);
    walk.hashes = ITEMS(hashes, uint64_t);
    reader.kinds = kinds;
    Py_BEGIN_ALLOW_THREADS
    failed = read_attributes(&page.values, &reader, ITEMS(tokens, uint64_t), walk.marks);
    for (r = 0; r < page.r; r++) {
        walk.run_hashes[r] = hash_run(&page.text, page.run_offset[r + 1] - page.run_offset[r], walk.base);
    }
    walk_page(&walk);
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}
