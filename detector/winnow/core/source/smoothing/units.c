/* The smoothing of all units of a page in one call: the double of winnow.smoothing.smooth. What is rare is left to Python:
   numbers that are refused, very many cells, scores that have to be coarser. */
#include <math.h>

#include "smoothing/smoothing.h"

enum { SCALE_BITS = 26, LEAST_SCALE_BITS = 16, BUDGET_BITS = 62 }; /* regression.py has the same numbers */
enum { PARENT, IN_TREE, SCORE, WEIGHT, PENALTY, VALUE, SECTION, ARRAYS };

typedef struct {
    uint64_t key; /* bits of a score from 0 to 1, which are in the order of the scores */
    int64_t node;
} Ranked;

/* The v visible units of k, and what is worked out of them. */
typedef struct {
    Py_ssize_t k, v, size;
    int32_t *place;     /* k: which visible unit each is or hangs below */
    int32_t *parent;    /* v */
    int32_t *section;   /* v */
    int64_t *unit;      /* v */
    int64_t *weight, *price, *opinion, *index, *member_of; /* v */
    Ranked *ranked, *spare; /* v */
    int64_t *X;         /* size: distinct scores in fixed point */
    double *lowest;     /* size: the lowest score that is each of them */
    char *memory;
} Forest;

static int allocate(Forest *forest, Py_ssize_t k)
{
    size_t units = (size_t)k;
    char *at = calloc(1, units * (2 * sizeof(Ranked) + 8 * 8 + 3 * 4) + 1);
    if ((forest->memory = at) == NULL) {
        return -1;
    }
    forest->k = k;
#define TAKE(to, type) (to = (type *)(void *)at, at += sizeof(type) * units)
    TAKE(forest->ranked, Ranked);
    TAKE(forest->spare, Ranked);
    TAKE(forest->unit, int64_t);
    TAKE(forest->weight, int64_t);
    TAKE(forest->price, int64_t);
    TAKE(forest->opinion, int64_t);
    TAKE(forest->index, int64_t);
    TAKE(forest->member_of, int64_t);
    TAKE(forest->X, int64_t);
    TAKE(forest->lowest, double);
    TAKE(forest->place, int32_t);
    TAKE(forest->parent, int32_t);
    TAKE(forest->section, int32_t);
#undef TAKE
    return 0;
}

/* Take the hidden units out. 1, or 0 where a number is none that can be smoothed. */
static int gather(Forest *forest, const Array *arrays)
{
    const int32_t *parent = ITEMS(arrays[PARENT], int32_t);
    const uint8_t *in_tree = ITEMS(arrays[IN_TREE], uint8_t);
    Py_ssize_t i, v = 0;
    double total = 0;
    for (i = 0; i < forest->k; i++) {
        double score = ITEMS(arrays[SCORE], double)[i] + 0.0; /* 0 for -0 */
        int64_t weight = in_tree[i] ? ITEMS(arrays[WEIGHT], int64_t)[i] : 0;
        if (parent[i] >= 0 && !in_tree[i]) {
            forest->place[i] = forest->place[parent[i]];
            continue;
        }
        if (!(score >= 0 && score <= 1) || weight < 0 || !(ITEMS(arrays[PENALTY], double)[i] >= 0)) {
            return 0;
        }
        total += (double)weight;
        forest->place[i] = (int32_t)v;
        forest->unit[v] = i;
        forest->parent[v] = parent[i] < 0 ? -1 : forest->place[parent[i]];
        forest->weight[v] = weight;
        memcpy(&forest->ranked[v].key, &score, sizeof score);
        forest->ranked[v].node = v;
        v++;
    }
    forest->v = v;
    return total <= (double)((int64_t)1 << (BUDGET_BITS - LEAST_SCALE_BITS));
}

/* In the order of scores, by merging; leaves the result in `ranked`. */
static void rank(Forest *forest)
{
    Py_ssize_t width, begin;
    for (width = 1; width < forest->v; width *= 2) {
        Ranked *swap = forest->ranked;
        for (begin = 0; begin < forest->v; begin += 2 * width) {
            Py_ssize_t middle = begin + width < forest->v ? begin + width : forest->v;
            Py_ssize_t end = begin + 2 * width < forest->v ? begin + 2 * width : forest->v, a = begin, b = middle, to;
            for (to = begin; to < end; to++) {
                int left = a < middle && (b == end || forest->ranked[a].key <= forest->ranked[b].key);
                forest->spare[to] = forest->ranked[left ? a++ : b++];
            }
        }
        forest->ranked = forest->spare;
        forest->spare = swap;
    }
}

static int bits_of(int64_t number)
{
    int bits = 0;
    for (; number; number >>= 1) {
        bits++;
    }
    return bits;
}

/* Number the distinct scores, and put everything into fixed point; 0 where there are not enough bits. */
static int measure(Forest *forest, const double *penalty)
{
    int64_t most = 1;
    Py_ssize_t i;
    int bits;
    double scale;
    for (i = 0; i < forest->v; i++) {
        most += forest->weight[i];
    }
    bits = BUDGET_BITS - bits_of(forest->v) - bits_of(most);
    bits = bits < SCALE_BITS ? bits : SCALE_BITS;
    if (bits < LEAST_SCALE_BITS) {
        return 0;
    }
    scale = (double)((int64_t)1 << bits);
    for (i = 0; i < forest->v; i++) {
        double score;
        int64_t fixed;
        memcpy(&score, &forest->ranked[i].key, sizeof score);
        fixed = (int64_t)rint(score * scale);
        if (forest->size == 0 || forest->X[forest->size - 1] != fixed) {
            forest->X[forest->size] = fixed;
            forest->lowest[forest->size++] = score;
        }
        forest->index[forest->ranked[i].node] = forest->size - 1;
    }
    for (i = 0; i < forest->v; i++) {
        forest->price[i] = (int64_t)rint(least(penalty[forest->unit[i]], (double)most) * scale);
        forest->opinion[i] = forest->weight[i] * (forest->X[forest->index[i]] - forest->X[0]);
    }
    return 1;
}

/* Lowest score of each root's tree. Of a single root it is the lowest of all. */
static void find_lowest(const Forest *forest, const Skeleton *skeleton, int64_t *root, int64_t *lowest)
{
    Py_ssize_t i, roots = (Py_ssize_t)skeleton->levels[1];
    for (i = 0; i < roots; i++) {
        lowest[i] = forest->size;
    }
    for (i = 0; i < skeleton->m; i++) {
        root[i] = skeleton->parent[i] < 0 ? i : root[skeleton->parent[i]];
    }
    for (i = 0; i < forest->v; i++) {
        int64_t *of_root = lowest + root[forest->member_of[i]];
        *of_root = forest->index[i] < *of_root ? forest->index[i] : *of_root;
    }
}

/* Choose a score for each node of the skeleton, int64[m]. 1, 0 where Python has to, -1 without memory. */
static int choose(const Forest *forest, const Skeleton *skeleton, Py_ssize_t cells, int64_t *memory)
{
    int64_t *penalty = memory + skeleton->m, *lowest = penalty + skeleton->m, *root = lowest + skeleton->m, optimum;
    Rows rows = {0};
    Py_ssize_t i;
    for (i = 0; i < skeleton->m; i++) {
        penalty[i] = forest->price[skeleton->node[i]];
    }
    find_lowest(forest, skeleton, root, lowest);
    rows.parent = skeleton->parent;
    rows.member_of = forest->member_of;
    rows.index = forest->index;
    rows.weight = forest->weight;
    rows.X = forest->X;
    rows.penalty = penalty;
    rows.lowest = lowest;
    rows.chosen = memory;
    rows.m = skeleton->m;
    rows.n = forest->v;
    rows.size = forest->size;
    rows.roots = (Py_ssize_t)skeleton->levels[1];
    return rows_solve(&rows, cells, &optimum);
}

static void spread(Forest *forest, const Skeleton *skeleton, const int64_t *chosen, double *value, int32_t *section)
{
    Py_ssize_t i;
    for (i = 0; i < forest->v; i++) {
        forest->section[i] = forest->parent[i] < 0 ? (int32_t)i : -1;
    }
    for (i = 0; i < skeleton->m; i++) {
        if (skeleton->parent[i] < 0 || chosen[i] != chosen[skeleton->parent[i]]) {
            forest->section[skeleton->node[i]] = (int32_t)skeleton->node[i];
        }
    }
    for (i = 0; i < forest->v; i++) {
        if (forest->section[i] < 0) {
            forest->section[i] = forest->section[forest->parent[i]];
        }
    }
    for (i = 0; i < forest->k; i++) {
        int32_t place = forest->place[i];
        value[i] = forest->lowest[chosen[forest->member_of[place]]];
        section[i] = (int32_t)forest->unit[forest->section[place]];
    }
}

/* 1, 0 where Python has to smooth, -1 without memory. */
static int smooth(const Array *arrays, Py_ssize_t cells, Py_ssize_t most_work)
{
    Forest forest = {0};
    Skeleton skeleton = {0};
    int64_t *memory = NULL;
    int done = -1;
    if (allocate(&forest, arrays[PARENT].length) < 0) {
        return -1;
    }
    if (!gather(&forest, arrays)) {
        done = 0;
        goto end;
    }
    rank(&forest);
    if (!measure(&forest, ITEMS(arrays[PENALTY], double))) {
        done = 0;
        goto end;
    }
    if (skeleton_of(&skeleton, forest.parent, forest.opinion, forest.price, forest.v, forest.member_of) < 0
        || (memory = malloc(sizeof(int64_t) * 4 * (size_t)skeleton.m + 1)) == NULL) {
        goto end;
    }
    done = skeleton.deepest <= most_work / forest.v ? choose(&forest, &skeleton, cells, memory) : 0;
    if (done == 1) {
        spread(&forest, &skeleton, memory, ITEMS(arrays[VALUE], double), ITEMS(arrays[SECTION], int32_t));
    }
end:
    free(memory);
    skeleton_free(&skeleton);
    free(forest.memory);
    return done;
}

/* smooth_units(parent: int32[k], in_tree: bool[k], score: float64[k], weight: int64[k], penalty: float64[k],
                value: float64[k], section: int32[k], most_cells, most_work) -> bool, False where Python has to */
PyObject *core_smooth_units(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"parent", "in_tree", "score", "weight", "penalty", "value", "section"};
    static const int sizes[ARRAYS] = {4, 1, 8, 8, 8, 8, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t cells, most_work;
    int k, done;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOnn", &objects[PARENT], &objects[IN_TREE], &objects[SCORE], &objects[WEIGHT],
                          &objects[PENALTY], &objects[VALUE], &objects[SECTION], &cells, &most_work)) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, VALUE) < 0) {
        goto done;
    }
    for (k = 1; k < ARRAYS; k++) {
        if (arrays[k].length != arrays[PARENT].length) {
            PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
            goto done;
        }
    }
    if (!is_forest(ITEMS(arrays[PARENT], int32_t), arrays[PARENT].length)) {
        PyErr_SetString(PyExc_ValueError, "not the parents of a forest");
        goto done;
    }
    if (arrays[PARENT].length == 0) {
        result = PyBool_FromLong(1);
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    done = smooth(arrays, cells, most_work);
    Py_END_ALLOW_THREADS
    result = done < 0 ? PyErr_NoMemory() : PyBool_FromLong(done);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}
