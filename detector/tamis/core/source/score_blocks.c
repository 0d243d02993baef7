/* The scores of a page's blocks by the model of tamis.models.blocks, and what decides on the page as a whole. No matrix of
   all features is made: the network asks for those of a few blocks at a time. */
#include "block_features.h"

enum { COLUMNS, TEMPLATENESS, WORDS_OF, WEIGHT, IN_TREE, PENALTY, KIND_INPUTS, ARRAYS };

/* What a call holds. */
typedef struct {
    Features features;
    Network network;
    Array arrays[ARRAYS];
    float *properties; /* [m][p]: features of p columns */
    int64_t *tokens;
    Py_ssize_t token_count;
} Scoring;

static void release(Scoring *scoring)
{
    free(scoring->properties);
    free(scoring->tokens);
    features_release(&scoring->features);
    network_release(&scoring->network);
    arrays_release(scoring->arrays, ARRAYS);
}

/* Write what the network asks for, and keep the properties. */
static void write_features(void *source, Py_ssize_t b, float *row)
{
    const Scoring *scoring = source;
    Py_ssize_t p = scoring->arrays[COLUMNS].length, k;
    features_of_block(&scoring->features, b, row);
    for (k = 0; k < p; k++) {
        scoring->properties[b * p + k] = row[ITEMS(scoring->arrays[COLUMNS], int32_t)[k]];
    }
}

/* Write the words of each block, and of each element, then each block, its score, which is even for elements; its weight in
   smoothing: the root of a block's words, none for elements; and whether it is in the tree: blocks, and elements where the
   text branches. `templateness` has the probabilities of content of the blocks. */
static void write_units(const Features *f, double *templateness, double *words, int64_t *weight, uint8_t *in_tree)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        int32_t held = page->block_end[i] - page->block_begin[i], above = i ? page->parent[i] : -1;
        *in_tree++ = held > 1 && (above < 0 || held != page->block_end[above] - page->block_begin[above]);
        *weight++ = 0;
        *templateness++ = 0.5;
    }
    for (i = 0; i < page->m; i++) {
        words[i] = (double)count_of(f, i, WORDS);
        *weight++ = (int64_t)larger(rint(sqrt(words[i])), 1);
        *in_tree++ = 1;
        templateness[i] = 1 - templateness[i];
    }
}

#define MAX_BLOCKS_PER_ITEM 3   /* of a run of like siblings; larger ones, such as posts, stand each for itself */
#define MAX_BLOCKS_PER_CELL 1.5 /* of a table; one with more lays out a page */
enum { MIN_CELLS = 4 };

/* Write what a section costs that starts at each element, then each block: `base`, or in a table, a list or a run of like
   siblings `base` or `inside` times the fraction of its children that are alike, whichever is more. */
static void write_penalties(const Features *f, double base, double inside, double *penalty)
{
    const PageArrays *page = &f->page;
    Element *elements = f->elements;
    Py_ssize_t i;
    int32_t cells = 0;
    for (i = 0; i < page->n; i++) {
        Element *element = &elements[i], *above = &elements[i ? page->parent[i] : 0];
        if (i && page->block_begin[i] < page->block_end[i]) {
            above->parts++;
            above->most_alike = element->alike > above->most_alike ? element->alike : above->most_alike;
        }
        element->cells = cells += core_tables.tag_groups[page->tag[i]] == CELL;
    }
    for (i = 0; i < page->n; i++) {
        Element *element = &elements[i];
        double held = page->block_end[i] - page->block_begin[i], outside = i ? elements[page->parent[i]].penalty : base;
        int32_t in_cells = elements[page->end[i] - 1].cells - element->cells;
        int is_table = core_tables.tag_groups[page->tag[i]] == TABLE;
        int is_run = is_table ? in_cells >= MIN_CELLS && held <= MAX_BLOCKS_PER_CELL * in_cells
                              : element->parts > 1 && held <= MAX_BLOCKS_PER_ITEM * element->parts;
        double likeness = is_table ? 1 : element->most_alike > 1 ? (double)element->most_alike / element->children : 0;
        element->penalty = is_run ? larger(outside, inside * likeness) : outside;
        *penalty++ = outside;
    }
    for (i = 0; i < page->m; i++) {
        *penalty++ = elements[page->block_node[i]].penalty;
    }
}

/* Write the page's features, the means of the properties over its content, then over all of it, and the share of content. */
static void write_kind_inputs(const Scoring *scoring, const double *templateness)
{
    const double *words = ITEMS(scoring->arrays[WORDS_OF], double);
    const float *property = scoring->properties;
    Py_ssize_t m = scoring->features.page.m, p = scoring->arrays[COLUMNS].length, b, k;
    double *to = ITEMS(scoring->arrays[KIND_INPUTS], double), *of_content = to + PAGE_FEATURES, *of_all = of_content + p;
    double content = 0, all = 0;
    features_of_page(&scoring->features, to);
    memset(of_content, 0, 2 * sizeof *to * (size_t)p);
    for (b = 0; b < m; b++) {
        double mass = larger(words[b], MIN_WORDS), of_block = (1 - templateness[b]) * mass;
        content += of_block;
        all += mass;
        for (k = 0; k < p; k++, property++) {
            of_content[k] += *property * of_block;
            of_all[k] += *property * mass;
        }
    }
    for (k = 0; k < p; k++) {
        of_content[k] /= larger(content, 1e-9);
        of_all[k] /= larger(all, MIN_WORDS);
    }
    of_all[p] = content / larger(all, MIN_WORDS);
}

/* List the different tokens in ascending order, names before words; 0, or -1 without memory. */
static int list_tokens(Scoring *scoring)
{
    const Features *f = &scoring->features;
    uint64_t present[2 * TABLE_SIZE / 64] = {0}, left; /* bits of tokens */
    int64_t *to = scoring->tokens = malloc(sizeof *to * (size_t)(f->name_count + f->word_count) + 1);
    Py_ssize_t i;
    if (to == NULL) {
        return -1;
    }
    for (i = 0; i < f->name_count; i++) {
        present[f->names[i] / 64] |= (uint64_t)1 << f->names[i] % 64;
    }
    for (i = 0; i < f->word_count; i++) {
        present[(TABLE_SIZE + f->words[i]) / 64] |= (uint64_t)1 << f->words[i] % 64;
    }
    for (i = 0; i < 2 * TABLE_SIZE / 64; i++) {
        for (left = present[i]; left; left &= left - 1) {
            *to++ = 64 * i + __builtin_ctzll(left);
        }
    }
    scoring->token_count = to - scoring->tokens;
    return 0;
}

static int fit(const Scoring *scoring)
{
    const Array *arrays = scoring->arrays;
    Py_ssize_t n = scoring->features.page.n, m = scoring->features.page.m;
    return scoring->network.f == FEATURES && are_below(&arrays[COLUMNS], FEATURES)
           && arrays[TEMPLATENESS].length == n + m && arrays[WORDS_OF].length == m && arrays[WEIGHT].length == n + m
           && arrays[IN_TREE].length == n + m && arrays[PENALTY].length == n + m && arrays[COLUMNS].length <= FEATURES
           && arrays[KIND_INPUTS].length == PAGE_FEATURES + 2 * arrays[COLUMNS].length + 1;
}

/* Score the blocks; 0, or -1 without memory or with an exception set. */
static int score(Scoring *scoring, float clip, double base, double inside)
{
    Features *f = &scoring->features;
    const Array *arrays = scoring->arrays;
    double *templateness = ITEMS(arrays[TEMPLATENESS], double), *of_blocks = templateness + f->page.n;
    scoring->properties = malloc(sizeof(float) * (size_t)(arrays[COLUMNS].length * f->page.m) + 1);
    if (scoring->properties == NULL || features_measure(f) < 0
        || network_run(&scoring->network, clip, write_features, scoring, f->page.m, of_blocks) < 0) {
        return -1;
    }
    write_units(f, templateness, ITEMS(arrays[WORDS_OF], double), ITEMS(arrays[WEIGHT], int64_t),
                ITEMS(arrays[IN_TREE], uint8_t));
    write_penalties(f, base, inside, ITEMS(arrays[PENALTY], double));
    write_kind_inputs(scoring, of_blocks);
    return list_tokens(scoring);
}

/* score_blocks(PAGE_FORMAT, network, (clip, base, inside), columns: int32[p], (templateness: float64[n + m],
                words: float64[m], weight: int64[n + m], in_tree: bool[n + m], penalty: float64[n + m]),
                kind_inputs: float64[PAGE_FEATURES + 2 p + 1])
   -> int64: tokens. columns: the features whose means are inputs of the page's kind; base, inside: as of penalties. */
PyObject *core_score_blocks(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(release) Scoring scoring = {0};
    Array *arrays = scoring.arrays;
    double base, inside;
    float clip;
    int failed;
    if (!PyArg_ParseTuple(arguments, PAGE_FORMAT "O&(fdd)O&(O&O&O&O&O&)O&", PAGE_ARGUMENTS(&scoring.features), in_network,
                          &scoring.network, &clip, &base, &inside, in_4, &arrays[COLUMNS], out_8, &arrays[TEMPLATENESS],
                          out_8, &arrays[WORDS_OF], out_8, &arrays[WEIGHT], out_1, &arrays[IN_TREE], out_8,
                          &arrays[PENALTY], out_8, &arrays[KIND_INPUTS])
        || !check_arrays(fit(&scoring)) || features_read(&scoring.features) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    failed = score(&scoring, clip, base, inside) < 0;
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return PyByteArray_FromStringAndSize((const char *)scoring.tokens, (Py_ssize_t)sizeof(int64_t) * scoring.token_count);
}
