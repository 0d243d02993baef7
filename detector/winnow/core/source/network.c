/* A network over the text blocks of a page in reading order, for winnow.models.blocks: a dense layer, a gated recurrent
   unit in each direction (Cho et al. 2014), a dense layer over the states of both and over their means and maxima on the
   page, and one logit per block, of the probability of content. */
#include "network.h"

#include <math.h>

enum { TILE = 8, COLUMNS = 16 }; /* blocks that are computed at a time; columns of a panel of weights */
enum { UNITS = 64, GATES = 3 * UNITS }; /* of a layer, and of a state; winnow.models.blocks has the same numbers */
#define MAX_LOGIT 30.0 /* winnow.models has the same number */
enum { MAX_KEPT = 4096 }; /* blocks whose first layer is kept for the way back; that of a larger page is computed again */

#define ALIGNED __attribute__((aligned(64))) /* to a line of the cache */

/* m blocks of f features. */
typedef struct {
    const Network *network;
    float clip;
    WriteFeatures write;
    void *source;
    Py_ssize_t m;
    double *probability;                      /* [m] */
    float *features;                          /* [TILE][f] */
    float *dense;                             /* [m][UNITS], or of a tile */
    float *output;                            /* [m][UNITS]: contribution of the states of both directions */
    ALIGNED double pooled[4 * UNITS];         /* sums of the states, forwards and backwards, and their maxima */
    ALIGNED float states[(TILE + 1) * UNITS]; /* of a tile, and the last one of the tile before */
    ALIGNED float gates[TILE * GATES];        /* contribution of the blocks */
    ALIGNED float sums[GATES];                /* contribution of the previous state */
    ALIGNED float of_page[UNITS];             /* contribution of the page */
} Task;

static const float *numbers(const Task *task, int array)
{
    return ITEMS(task->network->arrays[array], float);
}

/* ---- Products, by the instructions of every processor, and by those of x86-64 processors since 2013; results differ in
   their last bits. Each sum has a variable of its own, which compilers keep in a register; those of an array they write back
   every time. */

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t Mask __attribute__((vector_size(32), aligned(4), may_alias));

#pragma GCC diagnostic ignored "-Wpsabi" /* no function that takes or returns vectors is called: all are inlined */
#define INLINE static inline __attribute__((always_inline))

#define EIGHT(at) (*(const Eight *)(at))
#define MASK(at) (*(const Mask *)(at))

/* Write the products of some rows and of some columns of a weight to the rows of a tile. A weight lies in panels of COLUMNS
   columns for the products of rows, whose numbers are 0 but for some, and of UNITS for those of a row; each k by so many
   numbers, which the cache takes in one stream. */
typedef void (*Product)(const float *const *rows, const int32_t *used, Py_ssize_t k, const void *panel, float *tile);

/* Products of four rows and two vectors of columns, and of one row and eight of them. */
typedef struct {
    Product of_rows, of_sparse_rows, of_row;
    Eight (*multiply_add)(Eight a, Eight b, Eight c);
    int lanes; /* of a vector of the products */
    int size;  /* of a weight for of_row, in bytes: halves stay in the cache */
} Products;

#define EACH_SUM(DO, ...) \
    DO(0, __VA_ARGS__) DO(1, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) \
    DO(4, __VA_ARGS__) DO(5, __VA_ARGS__) DO(6, __VA_ARGS__) DO(7, __VA_ARGS__)
#define COLUMN(j, Vector, vectors) ((j) % (vectors) * (Py_ssize_t)(sizeof(Vector) / sizeof(float)))
#define CLEAR(j, Vector) Vector sum##j = {0};
#define ADD(j, Vector, vectors, load, multiply_add) \
    sum##j = multiply_add(rows[(j) / (vectors)][i] - (Vector){0}, load(Vector, weight + COLUMN(j, Vector, vectors)), sum##j);
#define STORE(j, Vector, vectors) *(Vector *)(tile + (j) / (vectors) * COLUMNS + COLUMN(j, Vector, vectors)) = sum##j;
#define PRODUCT(name, Vector, vectors, width, index, Number, load, multiply_add) \
    static void name(const float *const *rows, const int32_t *used, Py_ssize_t k, const void *panel, float *tile) \
    { \
        Py_ssize_t at; \
        EACH_SUM(CLEAR, Vector) \
        for (at = 0; at < k; at++) { \
            Py_ssize_t i = index; \
            const Number *weight = (const Number *)panel + i * width; \
            EACH_SUM(ADD, Vector, vectors, load, multiply_add) \
        } \
        EACH_SUM(STORE, Vector, vectors) \
        (void)used; \
    }

#define LOAD(Vector, at) (*(const Vector *)(at))
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
PRODUCT(multiply_rows, Four, 2, COLUMNS, at, float, LOAD, MULTIPLY_ADD)
PRODUCT(multiply_sparse_rows, Four, 2, COLUMNS, used[at], float, LOAD, MULTIPLY_ADD)
PRODUCT(multiply_row, Four, 8, UNITS, at, float, LOAD, MULTIPLY_ADD)

static inline Eight multiply_add(Eight a, Eight b, Eight c)
{
    return MULTIPLY_ADD(a, b, c);
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define FUSED __attribute__((target("avx2,fma,f16c")))
#define LOAD_HALF(Vector, at) _mm256_cvtph_ps(_mm_loadu_si128((const void *)(at)))
FUSED static inline Eight multiply_add_fused(Eight a, Eight b, Eight c)
{
    return _mm256_fmadd_ps(a, b, c);
}
FUSED PRODUCT(multiply_rows_fused, Eight, 2, COLUMNS, at, float, LOAD, _mm256_fmadd_ps)
FUSED PRODUCT(multiply_sparse_rows_fused, Eight, 2, COLUMNS, used[at], float, LOAD, _mm256_fmadd_ps)
FUSED PRODUCT(multiply_row_fused, Eight, 8, UNITS, at, uint16_t, LOAD_HALF, _mm256_fmadd_ps)
#endif

/* List the units that are above 0 in any of four rows, which have none below; returns how many there are. */
INLINE int find_used(const float *const *rows, int32_t *used)
{
    Mask bits = {0};
    uint64_t left = 0;
    int i, found = 0;
    for (i = 0; i < UNITS; i += 8) {
        Mask any = MASK(rows[0] + i) | MASK(rows[1] + i) | MASK(rows[2] + i) | MASK(rows[3] + i);
        bits |= (any != 0) & 1 << i / 8;
    }
    for (i = 0; i < 8; i++) {
        left |= (uint64_t)bits[i] << 8 * i;
    }
    for (; left; left &= left - 1) {
        int bit = __builtin_ctzll(left);
        used[found++] = bit % 8 * 8 + bit / 8;
    }
    return found;
}

/* Write the products of a few rows and of a weight of so many columns, plus a bias, or add them to what is there if there is
   none. Of sparse rows, of UNITS, many numbers are 0 and none is below. The results of one row lie `stride` numbers behind
   those of the row before. */
INLINE void fill_rows(Products products, const float *const *rows, int is_sparse, int count, Py_ssize_t k,
                      const float *weight, const float *bias, Py_ssize_t columns, float *to, Py_ssize_t stride)
{
    int32_t used[TILE / 4][UNITS];
    Py_ssize_t number[TILE / 4], first, column;
    int row;
    for (row = 0; row < count; row += 4) {
        number[row / 4] = is_sparse ? find_used(rows + row, used[row / 4]) : k;
    }
    for (first = 0; first < columns; first += COLUMNS) {
        ALIGNED float tile[TILE * COLUMNS];
        for (row = 0; row < count; row += 4) {
            for (column = 0; column < COLUMNS; column += 2 * products.lanes) {
                (is_sparse ? products.of_sparse_rows : products.of_rows)(
                    rows + row, used[row / 4], number[row / 4], weight + first * k + column, tile + row * COLUMNS + column);
            }
        }
        for (row = 0; row < count; row++) {
            float *sums = to + row * stride + first;
            for (column = 0; column < COLUMNS; column += 8) {
                *(Eight *)(sums + column) = EIGHT(tile + row * COLUMNS + column)
                                            + (bias ? EIGHT(bias + first + column) : EIGHT(sums + column));
            }
        }
    }
}

/* ---- The layers */

INLINE Eight chosen(Mask mask, Eight yes, Eight no)
{
    return (Eight)(((Mask)yes & mask) | ((Mask)no & ~mask));
}

INLINE Eight clipped(Eight x, float most)
{
    Eight upper = most - (Eight){0};
    x = chosen(x < upper, x, upper);
    return chosen(x > -upper, x, -upper);
}

/* Compute the first layer of a tile. */
INLINE void fill_dense(const Task *task, Products products, Py_ssize_t begin, int count, float *dense)
{
    const float *rows[TILE], *mean = numbers(task, MEAN), *scale = numbers(task, SCALE);
    Py_ssize_t f = task->network->f, i;
    int row;
    for (row = 0; row < TILE; row++) {
        float *features = task->features + (row < count ? row : 0) * f;
        rows[row] = features;
        if (row < count) {
            task->write(task->source, begin + row, features);
            for (i = 0; i < f; i++) {
                float value = (features[i] - mean[i]) * scale[i];
                value = value < task->clip ? value : task->clip;
                features[i] = value > -task->clip ? value : -task->clip;
            }
        }
    }
    fill_rows(products, rows, 0, count, f, numbers(task, DENSE_WEIGHT), numbers(task, DENSE_BIAS), UNITS, dense, UNITS);
    for (i = 0; i < count * UNITS; i += 8) {
        *(Eight *)(dense + i) = chosen(EIGHT(dense + i) > 0, EIGHT(dense + i), (Eight){0});
    }
}

/* tanh as a ratio of polynomials, to 1e-6. */
typedef struct {
    Eight above, below;
} Ratio;

INLINE Ratio tanh_of(Products products, Eight x)
{
    static const float above[] = {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                                  1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f};
    static const float below[] = {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f};
    Eight square;
    Ratio ratio = {-2.76076847742355e-16f - (Eight){0}, 1.19825839466702e-06f - (Eight){0}};
    int i;
    x = clipped(x, 7.9f);
    square = x * x;
    for (i = 0; i < 6; i++) {
        ratio.above = products.multiply_add(ratio.above, square, above[i] - (Eight){0});
    }
    for (i = 0; i < 3; i++) {
        ratio.below = products.multiply_add(ratio.below, square, below[i] - (Eight){0});
    }
    ratio.above *= x;
    return ratio;
}

/* Compute the new state from what the block and the previous state add to the gates. A division serves two gates, which are
   (1 + tanh(x / 2)) / 2. */
INLINE void turn(Products products, const float *before, const float *gates, const float *sums, const float *bias,
                 float *state)
{
    ALIGNED float updates[UNITS], resets[UNITS]; /* in a loop of their own, since a candidate waits for them */
    int i;
    for (i = 0; i < UNITS; i += 8) {
        Ratio update = tanh_of(products, 0.5f * (EIGHT(gates + i) + EIGHT(sums + i)));
        Ratio reset = tanh_of(products, 0.5f * (EIGHT(gates + UNITS + i) + EIGHT(sums + UNITS + i)));
        Eight half = 0.5f / (update.below * reset.below);
        *(Eight *)(updates + i) = products.multiply_add(update.above * reset.below, half, 0.5f - (Eight){0});
        *(Eight *)(resets + i) = products.multiply_add(reset.above * update.below, half, 0.5f - (Eight){0});
    }
    for (i = 0; i < UNITS; i += 8) {
        Eight candidate = EIGHT(sums + 2 * UNITS + i) + EIGHT(bias + i);
        Ratio ratio = tanh_of(products, EIGHT(gates + 2 * UNITS + i) + EIGHT(resets + i) * candidate);
        candidate = ratio.above / ratio.below;
        *(Eight *)(state + i) = candidate + EIGHT(updates + i) * (EIGHT(before + i) - candidate);
    }
}

/* Add a state to the sums and maxima over the page. */
INLINE void pool(double *restrict sums, double *restrict maxima, const float *restrict state)
{
    int i;
    for (i = 0; i < UNITS; i++) {
        sums[i] += state[i];
        maxima[i] = state[i] > maxima[i] ? state[i] : maxima[i];
    }
}

/* Read the blocks in one direction, a tile at a time: what they add to the gates, the states step by step, and what these
   add to the last layer. */
INLINE void read_blocks(Task *task, int backwards, Products products)
{
    const float *input = numbers(task, INPUT_WEIGHT) + backwards * UNITS * GATES;
    const char *recurrent = ITEMS(task->network->arrays[STATE_WEIGHT], char) + backwards * UNITS * GATES * products.size;
    const float *last = numbers(task, OUTPUT_WEIGHT) + backwards * UNITS * UNITS;
    const float *bias = numbers(task, STATE_BIAS) + backwards * UNITS;
    const float *rows[TILE], *before = memset(task->states + TILE * UNITS, 0, UNITS * sizeof *before);
    double *sums = task->pooled + backwards * UNITS, *maxima = sums + 2 * UNITS;
    Py_ssize_t way = backwards ? -1 : 1, begin;
    int row, i;
    for (i = 0; i < UNITS; i++) {
        sums[i] = 0;
        maxima[i] = -1; /* states lie between -1 and 1 */
    }
    for (begin = 0; begin < task->m; begin += TILE) {
        int count = task->m - begin < TILE ? (int)(task->m - begin) : TILE;
        Py_ssize_t first = backwards ? task->m - 1 - begin : begin, lowest = backwards ? first + 1 - count : first;
        float *dense = task->dense + (task->m <= MAX_KEPT ? lowest * UNITS : 0);
        if (!backwards || task->m > MAX_KEPT) {
            fill_dense(task, products, lowest, count, dense);
        }
        for (row = 0; row < TILE; row++) {
            rows[row] = dense + (first - lowest + way * (row < count ? row : 0)) * UNITS;
        }
        fill_rows(products, rows, 1, count, UNITS, input, numbers(task, INPUT_BIAS) + backwards * GATES, GATES, task->gates,
                  GATES);
        for (row = 0; row < count; row++) {
            float *state = task->states + row * UNITS;
            for (i = 0; i < GATES; i += 8 * products.lanes) { /* to and fro, since some of the weights stay in the cache */
                int column = row % 2 ? GATES - 8 * products.lanes - i : i;
                int number = column / UNITS * UNITS * UNITS + column % UNITS;
                products.of_row(&before, NULL, UNITS, recurrent + number * products.size, task->sums + column);
            }
            turn(products, before, task->gates + row * GATES, task->sums, bias, state);
            pool(sums, maxima, state);
            before = state;
        }
        for (row = 0; row < TILE; row++) {
            rows[row] = task->states + (row < count ? row : 0) * UNITS;
        }
        fill_rows(products, rows, 0, count, UNITS, last, backwards ? NULL : numbers(task, OUTPUT_BIAS), UNITS,
                  task->output + first * UNITS, way * UNITS);
        before = memcpy(task->states + TILE * UNITS, before, UNITS * sizeof *before); /* the next tile overwrites it */
    }
}

/* What the means and maxima of the states over the page add to the last layer. */
static void fill_of_page(Task *task)
{
    const float *weight = numbers(task, PAGE_WEIGHT);
    int i, j;
    memset(task->of_page, 0, sizeof task->of_page);
    for (i = 0; i < 4 * UNITS; i++, weight += UNITS) {
        float value = (float)(i < 2 * UNITS ? task->pooled[i] / (double)task->m : task->pooled[i]);
        for (j = 0; j < UNITS; j++) {
            task->of_page[j] += value * weight[j];
        }
    }
}

static void fill_probabilities(const Task *task)
{
    const float *weight = numbers(task, LAST_WEIGHT), *output = task->output;
    double *probability = task->probability;
    Py_ssize_t block;
    int i;
    for (block = 0; block < task->m; block++, output += UNITS) {
        float sum = *numbers(task, LAST_BIAS);
        for (i = 0; i < UNITS; i++) {
            float value = output[i] + task->of_page[i];
            sum += (value > 0 ? value : 0) * weight[i];
        }
        probability[block] = 1 / (1 + exp(-smaller(larger(sum, -MAX_LOGIT), MAX_LOGIT)));
    }
}

INLINE void run(Task *task, Products products)
{
    int backwards;
    for (backwards = 0; backwards < 2; backwards++) {
        read_blocks(task, backwards, products);
    }
    fill_of_page(task);
    fill_probabilities(task);
}

static void run_anywhere(Task *task)
{
    run(task, (Products){multiply_rows, multiply_sparse_rows, multiply_row, multiply_add, 4, sizeof(float)});
}

#if defined(__x86_64__)
FUSED static void run_fused(Task *task)
{
    run(task, (Products){multiply_rows_fused, multiply_sparse_rows_fused, multiply_row_fused, multiply_add_fused, 8,
                     sizeof(uint16_t)});
}

static int can_fuse(void)
{
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}
#else
#define run_fused run_anywhere
#define can_fuse() 0
#endif

static int is_fused;

void core_prepare_network(void)
{
    is_fused = can_fuse(); /* once, since it takes a virtual machine long */
}

/* has_halves() -> whether the weights of states may be of half precision here, which is faster */
PyObject *core_has_halves(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(arguments))
{
    return PyBool_FromLong(is_fused);
}

int in_network(PyObject *tuple, void *weights)
{
    static const int lengths[WEIGHTS] = {
        [DENSE_BIAS] = UNITS, [INPUT_WEIGHT] = 2 * UNITS * GATES, [INPUT_BIAS] = 2 * GATES,
        [STATE_WEIGHT] = 2 * UNITS * GATES, [STATE_BIAS] = 2 * UNITS, [OUTPUT_WEIGHT] = 2 * UNITS * UNITS,
        [OUTPUT_BIAS] = UNITS, [PAGE_WEIGHT] = 4 * UNITS * UNITS, [LAST_WEIGHT] = UNITS, [LAST_BIAS] = 1,
    }; /* others depend on the features */
    Network *network = weights;
    const Py_ssize_t sizes[WEIGHTS] = {4, 4, 4, 4, 4, 4, network->is_half ? 2 : 4, 4, 4, 4, 4, 4, 4};
    const Array *arrays = network->arrays;
    Py_ssize_t f;
    int i, fitting;
    if (!check_arrays(!network->is_half || is_fused)
        || !arrays_borrow(tuple, network->arrays, sizes, WEIGHTS)) {
        return 0;
    }
    f = network->f = arrays[MEAN].length;
    fitting = arrays[SCALE].length == f && arrays[DENSE_WEIGHT].length == f * UNITS;
    for (i = 0; i < WEIGHTS; i++) {
        fitting &= !lengths[i] || arrays[i].length == lengths[i];
    }
    return check_arrays(fitting);
}

void network_release(Network *network)
{
    arrays_release(network->arrays, WEIGHTS);
}

int network_run(const Network *network, float clip, WriteFeatures write, void *source, Py_ssize_t m, double *probability)
{
    size_t kept = m <= MAX_KEPT ? (size_t)m : TILE, features = (size_t)network->f * TILE;
    SCOPED(free_memory) char *memory = malloc(sizeof(float) * (features + (kept + (size_t)m) * UNITS));
    Task task = {.network = network, .clip = clip, .write = write, .source = source, .m = m, .probability = probability};
    char *at = memory;
    if (memory == NULL) {
        return -1;
    }
    CARVE(at, task.dense, kept * UNITS);
    CARVE(at, task.output, (size_t)m * UNITS);
    CARVE(at, task.features, features);
    network->is_half ? run_fused(&task) : run_anywhere(&task);
    return 0;
}
