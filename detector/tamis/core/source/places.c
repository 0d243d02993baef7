/* The places of a page's blocks, and what the page has there, for tamis.places. */
#include "fingerprints.h"

/* Mean log-odds of template that separate the codes of a place. */
enum { LEVELS = 2 };
static const double levels[LEVELS] = {-1, 1};

#define MIN_SCORE 1e-9      /* log-odds are of scores as far from 0 and 1 */
#define MAX_BLOCK_LOGIT 6.0 /* benchmarks.accuracy.site_evidence has the same */

static double block_logit(double score)
{
    return smaller(larger(log_odds(score, MIN_SCORE), -MAX_BLOCK_LOGIT), MAX_BLOCK_LOGIT);
}

/* A place and one of its blocks. */
typedef struct {
    uint64_t place;
    Py_ssize_t block;
} PlacedBlock;

/* Hash the class names of an element, without those with digits, which differ from page to page. */
static uint64_t hash_classes(Span names, unsigned char *room)
{
    Piece kept = {room, 0};
    Span name;
    while (name = next_word(&names), name.begin < name.end) {
        Span rest = name;
        unsigned all = 0;
        while (rest.begin < rest.end) {
            all |= next_property(&rest);
        }
        if (!(all & IS_DIGIT)) {
            piece_put_word(&kept, 0, name);
        }
    }
    return hash_bytes(kept.data, kept.length);
}

/* Hash the path to each element: its tags, with the classes and depth of each, but for those of the whole page. */
static void hash_paths(const PageArrays *page, const uint64_t *classes, uint64_t *paths)
{
    Py_ssize_t i;
    int32_t k;
    for (i = 0; i < page->n; i++) {
        uint64_t sum = 0, step = mix((uint64_t)page->depth[i] << 32 | ((uint64_t)page->tag[i] + 1));
        for (k = page->attribute_begin[i]; k < page->attribute_begin[i + 1]; k++) {
            sum += classes[page->first[k]];
        }
        paths[i] = (core_tables.tag_sets[page->tag[i]] & TAG_WHOLE_PAGE ? 0 : mix(sum ^ step)) + (i ? paths[page->parent[i]] : 0);
    }
}

static int compare_places(const void *left, const void *right)
{
    const PlacedBlock *a = left, *b = right;
    return a->place != b->place ? (a->place < b->place ? -1 : 1) : a->block < b->block ? -1 : 1;
}

/* find_places(page, name of classes, scores: float64[m], lengths: int64[m], version, of_block: int32[m],
               above: bool[m, LEVELS], codes: uint64[m, 1 + LEVELS])
   -> number of places, of which `above` and `codes` have a row each, in the order of the places

   The mean of the log-odds at a place is weighted by the root of the blocks' lengths. */
PyObject *core_find_places(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array scores = {0}, lengths = {0};
    SCOPED(array_release) Array of_block = {0}, above = {0}, codes = {0};
    SCOPED(free_memory) char *memory = NULL;
    unsigned long long version;
    uint64_t *classes, *paths;
    PlacedBlock *placed;
    double sum = 0, weights = 0; /* at a place */
    char *at;
    Py_ssize_t i, q = 0;
    int name, k;
    if (!PyArg_ParseTuple(arguments, "O&iO&O&KO&O&O&", in_page, &page, &name, in_8, &scores, in_8, &lengths, &version, out_4,
                          &of_block, out_1, &above, out_8, &codes)
        || !check_arrays(scores.length == page.m && lengths.length == page.m && of_block.length == page.m
                         && above.length == LEVELS * page.m && codes.length == (1 + LEVELS) * page.m)) {
        return NULL;
    }
    /* with room for the value of any attribute */
    memory = at = calloc(8 * (size_t)(page.a + page.n + 2 * page.m) + (size_t)page.values.begin[page.values.d] + 1, 1);
    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    CARVE(at, classes, page.a);
    CARVE(at, paths, page.n);
    CARVE(at, placed, page.m);
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < page.values.d; i++) {
        if (page.values.name_of[i] == name) {
            classes[page.values.first_index[i]] = hash_classes(value_of(&page.values, i), (unsigned char *)at);
        }
    }
    hash_paths(&page, classes, paths);
    for (i = 0; i < page.m; i++) {
        placed[i] = (PlacedBlock){paths[page.block_node[i]], i};
    }
    qsort(placed, (size_t)page.m, sizeof *placed, compare_places);
    for (i = 0; i < page.m; i++) {
        uint64_t place = placed[i].place ^ version, *code = ITEMS(codes, uint64_t) + (1 + LEVELS) * q;
        double weight = sqrt((double)ITEMS(lengths, int64_t)[placed[i].block]);
        ITEMS(of_block, int32_t)[placed[i].block] = (int32_t)q;
        sum += block_logit(ITEMS(scores, double)[placed[i].block]) * weight;
        weights += weight;
        if (i + 1 < page.m && placed[i + 1].place == placed[i].place) {
            continue;
        }
        code[0] = mix(place ^ mix(1));
        for (k = 0; k < LEVELS; k++) {
            int is_above = sum / weights > levels[k];
            ITEMS(above, uint8_t)[LEVELS * q + k] = (uint8_t)is_above;
            code[1 + k] = mix(place ^ mix((uint64_t)(2 + 2 * k + is_above)));
        }
        sum = weights = 0;
        q++;
    }
    Py_END_ALLOW_THREADS
    return PyLong_FromSsize_t(q);
}

/* What the counts of a site say of the units of a page, for tamis.evidence.site_counts. */

enum { INPUTS = 5 };

#define EVERYWHERE 0.9      /* fraction of the other pages */
#define MIN_PAGES_EVERYWHERE 10
#define AGREEING_PAGES 2    /* assumed at each place, in addition to the counted ones */
#define MISSING_PAGES 0.5   /* assumed to lack the place, in addition to the counted ones */
#define MIN_PRESENCE 0.3    /* fraction of the other pages with the block's place, below which counts say little of it */
#define MAX_FOR_CONTENT 1.2 /* log-odds towards content for such a block: a menu on one page only is not content */

/* site_evidence(df: int64[n + m], pages, coefficients: 5 float, of_codes: int64[q, 1 + LEVELS], of_block: int32[m] or none,
                 above: bool[q, LEVELS], scores: float64[m], inputs: float64[5, n + m], added: float64[n + m])

   of_codes: pages of the site that have each code; without places, all pages are taken to have them. */
PyObject *core_site_evidence(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array df = {0}, of_codes = {0}, of_block = {0}, above = {0}, scores = {0};
    SCOPED(array_release) Array inputs = {0}, added = {0};
    double pages, others, weights[INPUTS];
    Py_ssize_t i, n;
    int k;
    if (!PyArg_ParseTuple(arguments, "O&d(ddddd)O&O&O&O&O&O&", in_8, &df, &pages, &weights[0], &weights[1], &weights[2],
                          &weights[3], &weights[4], in_8, &of_codes, in_4, &of_block, in_1, &above, in_8, &scores, out_8,
                          &inputs, out_8, &added)
        || !check_arrays(pages >= 2 && of_codes.length * LEVELS == above.length * (1 + LEVELS)
                         && are_below(&of_block, above.length / LEVELS) && scores.length <= df.length
                         && (of_block.length == 0 || of_block.length == scores.length)
                         && inputs.length == INPUTS * df.length && added.length == df.length)) {
        return NULL;
    }
    others = pages - 1;
    n = df.length - scores.length;
    for (i = 0; i < df.length; i++) {
        double share = smaller(larger((double)ITEMS(df, int64_t)[i] - 1, 0), others) / others, sum = 0;
        double input[INPUTS] = {share, share >= EVERYWHERE && pages >= MIN_PAGES_EVERYWHERE, 0,
                                others / (others + MISSING_PAGES), 1};
        if (i >= n && of_block.length) {
            Py_ssize_t place = ITEMS(of_block, int32_t)[i - n];
            const int64_t *have_code = ITEMS(of_codes, int64_t) + (1 + LEVELS) * place;
            double have = larger((double)have_code[0] - 1, 0), total = -2 * have; /* of -2, 0 or 2 for each page */
            for (k = 0; k < LEVELS; k++) {
                double agree = smaller(larger((double)have_code[1 + k] - 1, 0), have);
                total += 2 * (ITEMS(above, uint8_t)[LEVELS * place + k] ? agree : have - agree);
            }
            input[2] = (total - have * block_logit(ITEMS(scores, double)[i - n])) / (have + AGREEING_PAGES);
            input[3] = have / (others + MISSING_PAGES);
        }
        for (k = 0; k < INPUTS; k++) {
            ITEMS(inputs, double)[k * df.length + i] = input[k];
            sum += input[k] * weights[k];
        }
        sum = input[3] < MIN_PRESENCE ? larger(sum, -MAX_FOR_CONTENT) : sum;
        ITEMS(added, double)[i] = ITEMS(df, int64_t)[i] == 0 || (i < n && sum <= 0) ? 0 : sum;
    }
    Py_RETURN_NONE;
}

/* adjust_scores(scores: float64[k], evidence: float64[k], adjusted: float64[k]): writes the probabilities with log-odds
   added, those without evidence as they are. */
PyObject *core_adjust_scores(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array scores = {0}, evidence = {0}, adjusted = {0};
    Py_ssize_t i;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_8, &scores, in_8, &evidence, out_8, &adjusted)
        || !check_arrays(scores.length == evidence.length && scores.length == adjusted.length)) {
        return NULL;
    }
    for (i = 0; i < scores.length; i++) {
        double score = ITEMS(scores, double)[i], added = ITEMS(evidence, double)[i];
        if (added != 0) {
            score = probability_of(log_odds(score, MIN_SCORE) + added);
        }
        ITEMS(adjusted, double)[i] = score;
    }
    Py_RETURN_NONE;
}
