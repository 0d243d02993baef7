/* The smoother: exact regularised isotonic regression on a forest of scored units.

   Source: page-level isotonic smoothing, section 4 (problem 2), with weights and a penalty per node as in section 5.3.
   Scores and penalties are in fixed point, so sums are exact, ties are real ties, and no order of summation matters.

   Two functions over the grid X of distinct scores describe a node: g(u), the least cost of its subtree if the node takes
   the score X[u], and F(v), the same if its PARENT takes X[v], so that the node takes that score too, or pays its penalty
   for a higher one. g is the sum of the distances of the node and of F of its children; F is g clipped from above. Both
   are affine, a + b * X, over pieces of the grid, and are passed on as the changes of a and b at the begin of each piece. */
#include <math.h>

#include "core.h"

enum { SCALE_BITS = 26, MIN_SCALE_BITS = 16, BUDGET_BITS = 62 }; /* one bit for the sign, one for a penalty on a cost */
enum { MAX_WORK = 1 << 24, COARSE_STEPS = 1024 }; /* sum of depths above which scores are rounded, and to what part of 1 */
enum { PARENT, IN_TREE, SCORE, WEIGHT, PENALTY, VALUE, SECTION, ARRAYS };

typedef struct {
    double score;
    int64_t node;
} Ranked;

typedef struct {
    int64_t a, b;
    int32_t at, next; /* index into X; the next change of the same node, -1 for none */
} Change;

typedef struct {
    int64_t a, b;
    int32_t begin;
} Piece;

/* Values of the parent, as indices into X, for which a node starts a section with the value `target`. */
typedef struct {
    int32_t begin, end, target;
} Region;

/* The v visible ones of k units, and the solution. */
typedef struct {
    Py_ssize_t k, v, size;
    int32_t *place;                /* k: the visible unit that each is or hangs below */
    int32_t *parent, *unit, *index; /* v: in the forest of visible units; number of the score */
    int64_t *weight, *price;       /* v */
    Ranked *ranked;                /* v: ascending */
    int64_t *X;                    /* size: distinct scores in fixed point */
    double *lowest;                /* size: the lowest score that is each of them */
    int32_t *depth, *chosen;       /* v: units above; value as index into X */
    int32_t *change;               /* v: first change passed on by the children, -1 for none */
    int32_t *section;              /* v: visible unit that its section begins with */
    Py_ssize_t *region;            /* v: its regions begin after those of the units after it */
    char *memory, *zeros;
    Array arrays[ARRAYS];

    int64_t *a, *b;    /* size: changes of the node that is being solved */
    uint64_t *touched; /* bits: where there are any */
    uint64_t *words;   /* bits: which numbers of `touched` have any */
    Piece *pieces;     /* size */
    Change *changes;
    Region *regions;
    Py_ssize_t changed, found; /* changes and regions in use */
    size_t change_bytes, region_bytes;
    int32_t unused; /* first free change, -1 for none */
} Forest;

static int allocate(Forest *forest, Py_ssize_t k)
{
    size_t units = (size_t)k;
    char *at = forest->memory = malloc((units + 1) * (sizeof(Ranked) + sizeof(Piece) + 5 * 8 + 8 * 4 + 1) + 64);
    char *zeros = forest->zeros = calloc(2 * (units + 1) + units / 64 + 1 + units / 4096 + 1, 8);
    if (at == NULL || zeros == NULL) {
        return -1;
    }
    forest->k = k;
    forest->unused = -1;
    CARVE(at, forest->ranked, units + 1);
    CARVE(at, forest->pieces, units + 1);
    CARVE(at, forest->weight, units + 1);
    CARVE(at, forest->price, units + 1);
    CARVE(at, forest->X, units + 1);
    CARVE(at, forest->lowest, units + 1);
    CARVE(at, forest->region, units + 1);
    CARVE(at, forest->place, units + 1);
    CARVE(at, forest->parent, units + 1);
    CARVE(at, forest->unit, units + 1);
    CARVE(at, forest->index, units + 1);
    CARVE(at, forest->depth, units + 1);
    CARVE(at, forest->section, units + 1);
    CARVE(at, forest->chosen, units + 1);
    CARVE(at, forest->change, units + 1);
    CARVE(zeros, forest->a, units + 1);
    CARVE(zeros, forest->b, units + 1);
    CARVE(zeros, forest->touched, units / 64 + 1);
    CARVE(zeros, forest->words, units / 4096 + 1);
    return 0;
}

static void release(Forest *forest)
{
    free(forest->regions);
    free(forest->changes);
    free(forest->zeros);
    free(forest->memory);
    arrays_release(forest->arrays, ARRAYS);
}

/* Remove the hidden units; their children are attached to the nearest visible ancestor. NULL, or an error message. */
static const char *gather(Forest *forest)
{
    const Array *arrays = forest->arrays;
    const int32_t *parent = ITEMS(arrays[PARENT], int32_t);
    const uint8_t *in_tree = ITEMS(arrays[IN_TREE], uint8_t);
    Py_ssize_t i, v = 0;
    double total = 0;
    for (i = 0; i < forest->k; i++) {
        double score = ITEMS(arrays[SCORE], double)[i] + 0.0; /* 0 for -0 */
        int64_t weight = in_tree[i] ? ITEMS(arrays[WEIGHT], int64_t)[i] : 0;
        if (parent[i] < -1 || parent[i] >= i) {
            return "parent: every parent must come before its children, and roots must have -1";
        }
        if (parent[i] >= 0 && !in_tree[i]) {
            forest->place[i] = forest->place[parent[i]];
            continue;
        }
        if (!(score >= 0 && score <= 1)) {
            return "score: expected numbers from 0 to 1";
        }
        if (!(ITEMS(arrays[PENALTY], double)[i] >= 0)) {
            return "penalty: expected numbers from 0 to infinity";
        }
        total += (double)weight;
        if (weight < 0 || total > (double)((int64_t)1 << (BUDGET_BITS - MIN_SCALE_BITS))) {
            return "weight: expected integers from 0 on, with a sum that 64 bits can hold exactly";
        }
        forest->place[i] = (int32_t)v;
        forest->unit[v] = (int32_t)i;
        forest->parent[v] = parent[i] < 0 ? -1 : forest->place[parent[i]];
        forest->weight[v] = weight;
        forest->ranked[v] = (Ranked){score, v};
        forest->depth[v] = parent[i] < 0 ? 1 : forest->depth[forest->parent[v]] + 1;
        forest->change[v] = -1;
        v++;
    }
    forest->v = v;
    return NULL;
}

static int compare_scores(const void *one, const void *other)
{
    double a = ((const Ranked *)one)->score, b = ((const Ranked *)other)->score;
    return (a > b) - (a < b);
}

/* Number the distinct scores; scores that are equal when rounded to 1/steps are one. */
static void number_scores(Forest *forest, double steps, double scale)
{
    double last = -1;
    Py_ssize_t i;
    forest->size = 0;
    for (i = 0; i < forest->v; i++) {
        double score = forest->ranked[i].score;
        if (rint(score * steps) != last) {
            last = rint(score * steps);
            forest->X[forest->size] = (int64_t)rint(score * scale);
            forest->lowest[forest->size++] = score;
        }
        forest->index[forest->ranked[i].node] = (int32_t)(forest->size - 1);
    }
}

static inline void touch(Forest *forest, int32_t at, int64_t a, int64_t b)
{
    forest->a[at] += a;
    forest->b[at] += b;
    forest->touched[at / 64] |= (uint64_t)1 << at % 64;
    forest->words[at / 4096] |= (uint64_t)1 << at / 64 % 64;
}

static int pass_on(Forest *forest, int32_t unit, int32_t at, int64_t a, int64_t b)
{
    int32_t number = forest->unused;
    if (number >= 0) {
        forest->unused = forest->changes[number].next;
    }
    else {
        size_t wanted = sizeof(Change) * ((size_t)forest->changed + 1);
        if (forest->changed == INT32_MAX || reserve(&forest->changes, &forest->change_bytes, wanted) < 0) {
            return -1;
        }
        number = (int32_t)forest->changed++;
    }
    forest->changes[number] = (Change){a, b, at, forest->change[unit]};
    forest->change[unit] = number;
    return 0;
}

static int add_region(Forest *forest, int32_t begin, int32_t end, int32_t target)
{
    if (reserve(&forest->regions, &forest->region_bytes, sizeof(Region) * ((size_t)forest->found + 1)) < 0) {
        return -1;
    }
    forest->regions[forest->found++] = (Region){begin, end, target};
    return 0;
}

/* Sum the distance of a unit and what its children passed on; returns the number of pieces of g. */
static Py_ssize_t sum_up(Forest *forest, Py_ssize_t unit)
{
    int64_t a = 0, b = 0, weight = forest->weight[unit], pull = weight * forest->X[forest->index[unit]];
    Py_ssize_t count = 0, group;
    int32_t i, next;
    touch(forest, 0, pull, -weight);
    touch(forest, forest->index[unit], -2 * pull, 2 * weight); /* at its own score its distance turns to rising */
    for (i = forest->change[unit]; i >= 0; i = next) {
        Change *change = &forest->changes[i];
        touch(forest, change->at, change->a, change->b);
        next = change->next;
        change->next = forest->unused;
        forest->unused = i;
    }
    for (group = 0; 4096 * group < forest->size; group++) { /* a unit touches few of the scores */
        uint64_t words = forest->words[group];
        forest->words[group] = 0;
        for (; words; words &= words - 1) {
            Py_ssize_t word = 64 * group + __builtin_ctzll(words);
            uint64_t bits = forest->touched[word];
            forest->touched[word] = 0;
            for (; bits; bits &= bits - 1) {
                int32_t at = (int32_t)(64 * word + __builtin_ctzll(bits));
                if (forest->a[at] || forest->b[at] || !at) {
                    a += forest->a[at];
                    b += forest->b[at];
                    forest->pieces[count++] = (Piece){a, b, at};
                }
                forest->a[at] = forest->b[at] = 0;
            }
        }
    }
    return count;
}

/* First index after `begin`, up to `end`, where a piece rises above the ceiling or falls to it. */
static int32_t crossing(const Forest *forest, const Piece *piece, int64_t ceiling, int is_above, int32_t begin, int32_t end)
{
    while (begin + 1 < end) {
        int32_t middle = begin + (end - begin) / 2;
        if ((piece->a + piece->b * forest->X[middle] > ceiling) == is_above) {
            end = middle;
        }
        else {
            begin = middle;
        }
    }
    return end;
}

/* Clip g of a unit to F and pass it on to its parent; a root takes the lowest of the best values that is a score of its tree.

   The ceiling of a piece is the penalty plus the least g at the begins of LATER pieces: a rising piece is lowest at its
   begin, and where a falling one ends the next piece begins lower still. What lies above the ceiling is all of a piece,
   its first part, or its last part. There the node starts a section, with the lowest of the least scores. */
static int clip(Forest *forest, Py_ssize_t unit, Py_ssize_t count)
{
    int64_t penalty = forest->price[unit], least = INT64_MAX;
    int32_t last = (int32_t)(forest->size - 1), target = 0, above = forest->parent[unit];
    while (count-- > 0) {
        const Piece *piece = &forest->pieces[count];
        int64_t low = piece->a + piece->b * forest->X[piece->begin];
        if (above >= 0 && least < INT64_MAX) {
            int64_t ceiling = penalty + least;
            int begins_above = low > ceiling, ends_above = piece->a + piece->b * forest->X[last] > ceiling;
            if (begins_above || ends_above) {
                int32_t begin = begins_above ? piece->begin : crossing(forest, piece, ceiling, 1, piece->begin, last);
                int32_t end = ends_above ? last + 1 : crossing(forest, piece, ceiling, 0, piece->begin, last);
                if (add_region(forest, begin, end, target) < 0
                    || pass_on(forest, above, begin, ceiling - piece->a, -piece->b) < 0
                    || pass_on(forest, above, end, piece->a - ceiling, piece->b) < 0) {
                    return -1;
                }
            }
        }
        if (low <= least) {
            least = low;
            target = piece->begin;
        }
        if (above >= 0
            && pass_on(forest, above, piece->begin, count ? piece->a - piece[-1].a : piece->a,
                       count ? piece->b - piece[-1].b : piece->b) < 0) {
            return -1;
        }
        last = piece->begin - 1;
    }
    if (above < 0) {
        forest->chosen[unit] = target > forest->chosen[unit] ? target : forest->chosen[unit];
    }
    return 0;
}

/* Costs go up, values down; 0, or -1 without memory. */
static int solve(Forest *forest)
{
    Py_ssize_t i;
    memcpy(forest->chosen, forest->index, sizeof(int32_t) * (size_t)forest->v);
    for (i = forest->v - 1; i >= 0; i--) { /* lowest score of each subtree */
        int32_t above = forest->parent[i];
        if (above >= 0 && forest->chosen[i] < forest->chosen[above]) {
            forest->chosen[above] = forest->chosen[i];
        }
    }
    for (i = forest->v - 1; i >= 0; i--) {
        Py_ssize_t count = sum_up(forest, i);
        forest->region[i] = forest->found;
        if (clip(forest, i, count) < 0) {
            return -1;
        }
    }
    for (i = 0; i < forest->v; i++) {
        Py_ssize_t low = forest->region[i], high = i ? forest->region[i - 1] : forest->found, end = high;
        int32_t value;
        forest->section[i] = (int32_t)i;
        if (forest->parent[i] < 0) {
            continue;
        }
        value = forest->chosen[forest->parent[i]];
        while (low < high) { /* the first region that begins at the value or below it */
            Py_ssize_t middle = (low + high) / 2;
            if (forest->regions[middle].begin <= value) {
                high = middle;
            }
            else {
                low = middle + 1;
            }
        }
        forest->chosen[i] = low < end && value < forest->regions[low].end ? forest->regions[low].target : value;
        if (forest->chosen[i] == value) {
            forest->section[i] = forest->section[forest->parent[i]];
        }
    }
    return 0;
}

static void spread(const Forest *forest, double *value, int32_t *section)
{
    Py_ssize_t i;
    for (i = 0; i < forest->k; i++) {
        int32_t place = forest->place[i];
        value[i] = forest->lowest[forest->chosen[place]];
        section[i] = forest->unit[forest->section[place]];
    }
}

/* Smooth. NULL, or what is wrong with the numbers; "" without memory. */
static const char *smooth(Forest *forest)
{
    const char *wrong = gather(forest);
    int64_t weights = 1, work = 0;
    Py_ssize_t i;
    int bits;
    double scale;
    if (wrong != NULL) {
        return wrong;
    }
    for (i = 0; i < forest->v; i++) {
        weights += forest->weight[i];
        work += forest->depth[i];
    }
    bits = BUDGET_BITS - (64 - __builtin_clzll((uint64_t)forest->v)) - (64 - __builtin_clzll((uint64_t)weights));
    bits = bits < SCALE_BITS ? bits : SCALE_BITS;
    if (bits < MIN_SCALE_BITS) {
        return "weight: the sum over all nodes is too large for exact sums in 64 bits";
    }
    scale = (double)((int64_t)1 << bits);
    for (i = 0; i < forest->v; i++) {
        forest->price[i] = (int64_t)rint(smaller(ITEMS(forest->arrays[PENALTY], double)[forest->unit[i]], (double)weights) * scale);
    }
    qsort(forest->ranked, (size_t)forest->v, sizeof(Ranked), compare_scores);
    number_scores(forest, work > MAX_WORK ? COARSE_STEPS : scale, scale);
    if (solve(forest) < 0) {
        return "";
    }
    spread(forest, ITEMS(forest->arrays[VALUE], double), ITEMS(forest->arrays[SECTION], int32_t));
    return NULL;
}

/* smooth(parent: int32[k], in_tree: bool[k], score: float64[k], weight: int64[k], penalty: float64[k], value: float64[k],
          section: int32[k]) -> None; raises ValueError for numbers that cannot be smoothed */
PyObject *core_smooth(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(release) Forest forest = {0};
    Array *arrays = forest.arrays;
    const char *wrong;
    int k, fit = 1;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&", in_4, &arrays[PARENT], in_1, &arrays[IN_TREE], in_8, &arrays[SCORE],
                          in_8, &arrays[WEIGHT], in_8, &arrays[PENALTY], out_8, &arrays[VALUE], out_4, &arrays[SECTION])) {
        return NULL;
    }
    for (k = 1; k < ARRAYS; k++) {
        fit &= arrays[k].length == arrays[PARENT].length && arrays[k].length < INT32_MAX;
    }
    if (!check_arrays(fit)) {
        return NULL;
    }
    if (allocate(&forest, arrays[PARENT].length) < 0) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    wrong = arrays[PARENT].length ? smooth(&forest) : NULL;
    Py_END_ALLOW_THREADS
    if (wrong == NULL) {
        Py_RETURN_NONE;
    }
    return *wrong ? (PyErr_SetString(PyExc_ValueError, wrong), NULL) : PyErr_NoMemory();
}
