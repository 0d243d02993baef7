/* The decision on a whole page, for tamis.models.decision: its kind, the threshold that its scores expect the best text of,
   and how good this text is expected to be. Scores are of templateness. */

#include "page.h"

enum { AHEAD = 16 }; /* tokens whose weights are asked for before they are needed */
#define MIN_THRESHOLD 1e-4 /* log-odds are of thresholds as far from 0 and 1 */

/* kind_probabilities(numbers: float64[d], mean: float64[d], scale: float64[d], clip, weight: float64[d, k],
                      bias: float64[k], token_weight: float32[size, k], tokens: int64[t], kinds: float64[k])

   Standardised numbers count within `clip`, unknown ones (NaN) nothing. Writes the probabilities of the kinds. */
PyObject *core_kind_probabilities(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array numbers = {0}, mean = {0}, scale = {0}, weight = {0}, bias = {0}, token_weight = {0};
    SCOPED(array_release) Array tokens = {0}, kinds = {0};
    double clip, *to, highest, sum = 0;
    Py_ssize_t i, k;
    if (!PyArg_ParseTuple(arguments, "O&O&O&dO&O&O&O&O&", in_8, &numbers, in_8, &mean, in_8, &scale, &clip, in_8, &weight,
                          in_8, &bias, in_4, &token_weight, in_8, &tokens, out_8, &kinds)
        || !check_arrays(mean.length == numbers.length && scale.length == numbers.length
                         && weight.length == numbers.length * kinds.length && bias.length == kinds.length && kinds.length > 0
                         && are_below(&tokens, token_weight.length / kinds.length))) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    to = ITEMS(kinds, double);
    memcpy(to, ITEMS(bias, double), sizeof *to * (size_t)kinds.length);
    for (i = 0; i < numbers.length; i++) {
        double number = (ITEMS(numbers, double)[i] - ITEMS(mean, double)[i]) * ITEMS(scale, double)[i];
        for (k = 0; k < kinds.length && !isnan(number); k++) {
            to[k] += smaller(larger(number, -clip), clip) * ITEMS(weight, double)[i * kinds.length + k];
        }
    }
    for (i = 0; i < tokens.length; i++) {
        const float *rows = ITEMS(token_weight, float), *row = rows + ITEMS(tokens, int64_t)[i] * kinds.length;
        if (i + AHEAD < tokens.length) { /* the table is large */
            __builtin_prefetch(rows + ITEMS(tokens, int64_t)[i + AHEAD] * kinds.length);
        }
        for (k = 0; k < kinds.length; k++) {
            to[k] += (double)row[k];
        }
    }
    for (k = 1, highest = to[0]; k < kinds.length; k++) {
        highest = larger(to[k], highest);
    }
    for (k = 0; k < kinds.length; k++) {
        sum += to[k] = exp(to[k] - highest);
    }
    for (k = 0; k < kinds.length; k++) {
        to[k] /= sum;
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* A block, or several one after the other with the same score, as smoothing gives them. */
typedef struct {
    double score, mass;
} Block;

static int compare_scores(const void *a, const void *b)
{
    double one = ((const Block *)a)->score, other = ((const Block *)b)->score;
    return (one > other) - (one < other);
}

/* Find the threshold with the highest expected F-beta of blocks that are sorted by score; `content` is that of all. */
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

/* choose_threshold(scores: float64[m], words: float64[m], beta, most, even, is_article)
   -> threshold, and F1, precision, recall and log10 of the words of the text that this leaves, as the scores expect them

   Averages the log-odds of the threshold with the highest expected F-beta, but `most` if that keeps a block, and of `even`,
   which counts `is_article`, 0 to 1. */
PyObject *core_choose_threshold(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array scores = {0}, words = {0};
    SCOPED(free_memory) Block *blocks = NULL;
    double beta, most, even, is_article, best, threshold, content = 0, found = 0, kept = 0;
    Py_ssize_t m = 0, b;
    if (!PyArg_ParseTuple(arguments, "O&O&dddd", in_8, &scores, in_8, &words, &beta, &most, &even, &is_article)
        || !check_arrays(scores.length == words.length)) {
        return NULL;
    }
    if ((blocks = malloc(sizeof(Block) * (size_t)scores.length + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (b = 0; b < scores.length; b++) {
        double score = ITEMS(scores, double)[b], mass = larger(ITEMS(words, double)[b], MIN_WORDS);
        content += (1 - score) * mass;
        if (m && blocks[m - 1].score == score) {
            blocks[m - 1].mass += mass;
        }
        else {
            blocks[m++] = (Block){score, mass};
        }
    }
    qsort(blocks, (size_t)m, sizeof(Block), compare_scores);
    best = m ? smaller(find_threshold(blocks, m, beta, content), larger(most, nextafter(blocks[0].score, 2))) : 0.5;
    threshold = probability_of((1 - is_article) * log_odds(best, MIN_THRESHOLD)
                               + is_article * log_odds(even, MIN_THRESHOLD));
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
    return Py_BuildValue("ddddd", threshold, 2 * found / (kept + content), found / kept, found / content, log10(kept));
}
