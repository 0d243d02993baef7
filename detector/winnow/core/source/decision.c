/* The decision on a whole page, for winnow.models.decision: its kind, the threshold that its scores expect the best text of,
   and how good this text is expected to be. Scores are of templateness. */
#include "block_features.h"

#define MIN_WORDS 0.5 /* blocks without words count a little */

/* kind_inputs(static: float32[k, m], words: float64[m], scores: float64[m], columns: int32[q], name: uint32, word: uint32,
               means: float64[2 q + 1]) -> int64: different tokens, ascending

   means: of some features over the blocks, weighted by words of content, and by words; then which part of the words is
   content. name, word: entries of tables of TABLE_SIZE; as tokens, words follow names. */
PyObject *core_kind_inputs(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array features = {0}, words = {0}, scores = {0}, columns = {0}, means = {0};
    SCOPED(array_release) Array name = {0}, word = {0};
    SCOPED(free_memory) int64_t *tokens = NULL;
    uint64_t present[2 * TABLE_SIZE / 64] = {0}, left; /* bits of tokens */
    double *to, all[2] = {0};
    Py_ssize_t m, q, count = 0, i, k;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&", in_4, &features, in_8, &words, in_8, &scores, in_4, &columns, in_4,
                          &name, in_4, &word, out_8, &means)) {
        return NULL;
    }
    m = words.length;
    q = columns.length;
    if (!check_arrays(scores.length == m && are_below(&columns, m ? features.length / m : INT32_MAX)
                      && are_below(&name, TABLE_SIZE) && are_below(&word, TABLE_SIZE) && means.length == 2 * q + 1)) {
        return NULL;
    }
    if ((tokens = malloc(sizeof(int64_t) * (size_t)(name.length + word.length) + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    to = memset(ITEMS(means, double), 0, sizeof(double) * (size_t)(2 * q + 1));
    for (k = -1; k < q; k++) { /* first of 1, for the totals */
        const float *feature = k < 0 ? NULL : ROW(ITEMS(features, float), ITEMS(columns, int32_t)[k]);
        double sums[2] = {0};
        for (i = 0; i < m; i++) {
            double own = larger(ITEMS(words, double)[i], MIN_WORDS) * (feature ? (double)feature[i] : 1);
            sums[0] += (1 - ITEMS(scores, double)[i]) * own;
            sums[1] += own;
        }
        for (i = 0; i < 2; i++) {
            if (k < 0) {
                all[i] = larger(sums[i], 1e-9);
            }
            else {
                to[i * q + k] = sums[i] / all[i];
            }
        }
    }
    to[2 * q] = all[0] / all[1];
    for (i = 0; i < name.length + word.length; i++) {
        uint32_t token = i < name.length ? ITEMS(name, uint32_t)[i] : TABLE_SIZE + ITEMS(word, uint32_t)[i - name.length];
        present[token / 64] |= (uint64_t)1 << token % 64;
    }
    for (i = 0; i < 2 * TABLE_SIZE / 64; i++) {
        for (left = present[i]; left; left &= left - 1) {
            tokens[count++] = 64 * i + __builtin_ctzll(left);
        }
    }
    return PyByteArray_FromStringAndSize((const char *)tokens, 8 * count);
}

/* add_rows(table: float64[size, k], rows: int64[t], sums: float64[k]): adds some rows to the sums */
PyObject *core_add_rows(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array table = {0}, rows = {0}, sums = {0};
    Py_ssize_t i, j, k;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_8, &table, in_8, &rows, out_8, &sums)
        || !check_arrays(sums.length > 0 && are_below(&rows, table.length / sums.length))) {
        return NULL;
    }
    for (i = 0, k = sums.length; i < rows.length; i++) {
        const double *row = ITEMS(table, double) + ITEMS(rows, int64_t)[i] * k;
        for (j = 0; j < k; j++) {
            ITEMS(sums, double)[j] += row[j];
        }
    }
    Py_RETURN_NONE;
}

typedef struct {
    double score, mass;
} Block;

static int compare_scores(const void *a, const void *b)
{
    double one = ((const Block *)a)->score, other = ((const Block *)b)->score;
    return (one > other) - (one < other);
}

/* Find the threshold with the highest expected F-beta of blocks that are sorted by score, with so much content in all. */
static double find_threshold(const Block *blocks, Py_ssize_t m, double beta, double content)
{
    double found = 0, kept = 0, most = -1, just_above;
    Py_ssize_t b, best = 0;
    for (b = 0; b < m; b++) {
        double expected;
        found += (1 - blocks[b].score) * blocks[b].mass;
        kept += blocks[b].mass;
        expected = found / (kept + beta * beta * content);
        if (expected > most) {
            most = expected;
            best = b;
        }
    }
    just_above = nextafter(blocks[best].score, 2);
    return best + 1 == m ? just_above : larger((blocks[best].score + blocks[best + 1].score) / 2, just_above);
}

static double log_odds(double probability)
{
    double bounded = smaller(larger(probability, 1e-4), 1 - 1e-4);
    return log(bounded / (1 - bounded));
}

/* choose_threshold(scores: float64[m], words: float64[m], beta, even, is_article, inputs: float64[6]) -> threshold

   Averages the log-odds of the threshold with the highest expected F-beta and of `even`, which counts `is_article`, 0 to 1.
   inputs: CONFIDENCE_INPUTS of the text that this leaves, but for the fifth. */
PyObject *core_choose_threshold(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array scores = {0}, words = {0}, inputs = {0};
    SCOPED(free_memory) Block *blocks = NULL;
    double beta, even, is_article, best, threshold, content = 0, found = 0, kept = 0, *to;
    Py_ssize_t m, b;
    if (!PyArg_ParseTuple(arguments, "O&O&dddO&", in_8, &scores, in_8, &words, &beta, &even, &is_article, out_8, &inputs)
        || !check_arrays(scores.length == words.length && inputs.length == 6)) {
        return NULL;
    }
    m = scores.length;
    if ((blocks = malloc(sizeof(Block) * (size_t)m + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (b = 0; b < m; b++) {
        blocks[b] = (Block){ITEMS(scores, double)[b], larger(ITEMS(words, double)[b], MIN_WORDS)};
        content += (1 - blocks[b].score) * blocks[b].mass;
    }
    qsort(blocks, (size_t)m, sizeof(Block), compare_scores);
    best = m ? find_threshold(blocks, m, beta, content) : 0.5;
    threshold = 1 / (1 + exp((is_article - 1) * log_odds(best) - is_article * log_odds(even)));
    threshold = is_article >= 1 ? even : is_article <= 0 ? best : threshold;
    if (m && blocks[0].score >= threshold) { /* keep the text of a page with one uncertain sentence */
        threshold = best;
    }
    for (b = 0; b < m && blocks[b].score < threshold; b++) {
        found += (1 - blocks[b].score) * blocks[b].mass;
        kept += blocks[b].mass;
    }
    kept = larger(kept, MIN_WORDS);
    content = larger(content, 1e-9);
    to = ITEMS(inputs, double);
    to[0] = 1;
    to[1] = 2 * found / (kept + content);
    to[2] = found / kept;
    to[3] = found / content;
    to[5] = log10(kept);
    return PyFloat_FromDouble(threshold);
}
