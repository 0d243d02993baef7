/* A network over the text blocks of a page in reading order, for winnow.models.blocks: a dense layer, a gated recurrent
   unit in each direction (Cho et al. 2014), a dense layer over the states of both and over their means and maxima on the
   page, and one logit per block, of the probability of content. */
#include "network.h"

#include <math.h>

enum { COLUMNS = 16 }; /* of a tile, whose sums stay in registers, half of it at a time */
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
    float *packed;                            /* [f][TILE]: features */
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

#define EIGHT(at) (*(const Eight *)(at))

/* Write the products of some rows, whose values are `step` items apart, and of some columns of a weight to the rows of a
   tile. A weight lies in panels of COLUMNS columns for the products of rows, and of UNITS for those of a row, each k by so
   many numbers, which the cache takes in one stream. */
typedef void (*Product)(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *weight, float *tile);

/* Products of four rows and two vectors of columns, and of one row and eight of them. */
typedef struct {
    Product of_rows, of_row;
    int lanes; /* of a vector */
} Products;

#define EACH_SUM(DO, ...) \
    DO(0, __VA_ARGS__) DO(1, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) \
    DO(4, __VA_ARGS__) DO(5, __VA_ARGS__) DO(6, __VA_ARGS__) DO(7, __VA_ARGS__)
#define COLUMN(j, Vector, vectors) ((j) % (vectors) * (Py_ssize_t)(sizeof(Vector) / sizeof(float)))
#define CLEAR(j, Vector) Vector sum##j = {0};
#define ADD(j, Vector, vectors, multiply_add) \
    sum##j = multiply_add(rows[(j) / (vectors)][i * step] - (Vector){0}, \
                          *(const Vector *)(weight + COLUMN(j, Vector, vectors)), sum##j);
#define STORE(j, Vector, vectors) *(Vector *)(tile + (j) / (vectors) * COLUMNS + COLUMN(j, Vector, vectors)) = sum##j;
#define PRODUCT(name, Vector, vectors, width, multiply_add) \
    static void name(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *weight, float *tile) \
    { \
        Py_ssize_t i; \
        EACH_SUM(CLEAR, Vector) \
        for (i = 0; i < k; i++, weight += width) { \
            EACH_SUM(ADD, Vector, vectors, multiply_add) \
        } \
        EACH_SUM(STORE, Vector, vectors) \
    }

#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
PRODUCT(multiply_rows, Four, 2, COLUMNS, MULTIPLY_ADD)
PRODUCT(multiply_row, Four, 8, UNITS, MULTIPLY_ADD)

#if defined(__x86_64__)
#include <immintrin.h>
#define FUSED __attribute__((target("avx2,fma")))
FUSED PRODUCT(multiply_rows_fused, Eight, 2, COLUMNS, _mm256_fmadd_ps)
FUSED PRODUCT(multiply_row_fused, Eight, 8, UNITS, _mm256_fmadd_ps)
#endif

#pragma GCC diagnostic ignored "-Wpsabi" /* no function that takes or returns vectors is called: all are inlined */
#define INLINE static inline __attribute__((always_inline))

/* Write the products of a few rows and of a weight of so many columns, plus a bias, or add them to what is there if there is
   none. The results of one row lie `stride` numbers behind those of the row before. */
INLINE void fill_rows(Products products, const float *const *rows, int count, Py_ssize_t step, Py_ssize_t k,
                      const float *weight, const float *bias, Py_ssize_t columns, float *to, Py_ssize_t stride)
{
    Py_ssize_t first, column;
    int row;
    for (first = 0; first < columns; first += COLUMNS) {
        ALIGNED float tile[TILE * COLUMNS];
        for (row = 0; row < count; row += 4) {
            for (column = 0; column < COLUMNS; column += 2 * products.lanes) {
                products.of_rows(rows + row, step, k, weight + first * k + column, tile + row * COLUMNS + column);
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
    Py_ssize_t i;
    for (i = 0; i < TILE; i++) {
        rows[i] = task->packed + i;
    }
    task->write(task->source, begin, count, task->packed);
    for (i = 0; i < task->network->f; i++) {
        Eight *features = (Eight *)ROW(task->packed, i);
        *features = clipped((*features - mean[i]) * scale[i], task->clip);
    }
    fill_rows(products, rows, count, TILE, task->network->f, numbers(task, DENSE_WEIGHT), numbers(task, DENSE_BIAS), UNITS,
              dense, UNITS);
    for (i = 0; i < count * UNITS; i += 8) {
        *(Eight *)(dense + i) = chosen(EIGHT(dense + i) > 0, EIGHT(dense + i), (Eight){0});
    }
}

/* A ratio of polynomials, to 1e-6. */
INLINE Eight tanh_of(Eight x)
{
    Eight square, above, below;
    x = clipped(x, 7.9f);
    square = x * x;
    above = square * -2.76076847742355e-16f + 2.00018790482477e-13f;
    above = square * above + -8.60467152213735e-11f;
    above = square * above + 5.12229709037114e-08f;
    above = square * above + 1.48572235717979e-05f;
    above = square * above + 6.37261928875436e-04f;
    above = square * above + 4.89352455891786e-03f;
    below = square * 1.19825839466702e-06f + 1.18534705686654e-04f;
    below = square * below + 2.26843463243900e-03f;
    below = square * below + 4.89352518554385e-03f;
    return x * above / below;
}

INLINE Eight sigmoid_of(Eight x)
{
    return 0.5f + 0.5f * tanh_of(0.5f * x);
}

/* Compute the new state from what the block and the previous state add to the gates. */
INLINE void turn(const float *before, const float *gates, const float *sums, const float *bias, float *state)
{
    ALIGNED float opened[2 * UNITS]; /* update and reset, in a loop of their own, since a candidate waits for them */
    int i;
    for (i = 0; i < 2 * UNITS; i += 8) {
        *(Eight *)(opened + i) = sigmoid_of(EIGHT(gates + i) + EIGHT(sums + i));
    }
    for (i = 0; i < UNITS; i += 8) {
        Eight candidate = EIGHT(sums + 2 * UNITS + i) + EIGHT(bias + i);
        candidate = tanh_of(EIGHT(gates + 2 * UNITS + i) + EIGHT(opened + UNITS + i) * candidate);
        *(Eight *)(state + i) = candidate + EIGHT(opened + i) * (EIGHT(before + i) - candidate);
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
    const float *recurrent = numbers(task, STATE_WEIGHT) + backwards * UNITS * GATES;
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
        fill_rows(products, rows, count, 1, UNITS, input, numbers(task, INPUT_BIAS) + backwards * GATES, GATES, task->gates,
                  GATES);
        for (row = 0; row < count; row++) {
            float *state = task->states + row * UNITS;
            for (i = 0; i < GATES; i += 8 * products.lanes) { /* to and fro, since half of the weights stay in the cache */
                int column = row % 2 ? GATES - 8 * products.lanes - i : i;
                const float *panel = recurrent + column / UNITS * UNITS * UNITS;
                products.of_row(&before, 1, UNITS, panel + column % UNITS, task->sums + column);
            }
            turn(before, task->gates + row * GATES, task->sums, bias, state);
            pool(sums, maxima, state);
            before = state;
        }
        for (row = 0; row < TILE; row++) {
            rows[row] = task->states + (row < count ? row : 0) * UNITS;
        }
        fill_rows(products, rows, count, 1, UNITS, last, backwards ? NULL : numbers(task, OUTPUT_BIAS), UNITS,
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
    run(task, (Products){multiply_rows, multiply_row, 4});
}

#if defined(__x86_64__)
FUSED static void run_fused(Task *task)
{
    run(task, (Products){multiply_rows_fused, multiply_row_fused, 8});
}
#define CAN_FUSE (__builtin_cpu_init(), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define run_fused run_anywhere
#define CAN_FUSE 0
#endif

static int is_fused;

void core_prepare_network(void)
{
    is_fused = CAN_FUSE;
}

/* fuse(allowed) -> whether products are fused from now on */
PyObject *core_fuse(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    int allowed;
    if (!PyArg_ParseTuple(arguments, "p", &allowed)) {
        return NULL;
    }
    is_fused = allowed && CAN_FUSE;
    return PyBool_FromLong(is_fused);
}

int in_network(PyObject *tuple, void *weights)
{
    static const int lengths[WEIGHTS] = {
        [DENSE_BIAS] = UNITS, [INPUT_WEIGHT] = 2 * UNITS * GATES, [INPUT_BIAS] = 2 * GATES,
        [STATE_WEIGHT] = 2 * UNITS * GATES, [STATE_BIAS] = 2 * UNITS, [OUTPUT_WEIGHT] = 2 * UNITS * UNITS,
        [OUTPUT_BIAS] = UNITS, [PAGE_WEIGHT] = 4 * UNITS * UNITS, [LAST_WEIGHT] = UNITS, [LAST_BIAS] = 1,
    }; /* others depend on the features */
    static const Py_ssize_t sizes[WEIGHTS] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    Network *network = weights;
    const Array *arrays = network->arrays;
    Py_ssize_t f;
    int i, fitting;
    if (!arrays_borrow(tuple, network->arrays, sizes, WEIGHTS)) {
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
    size_t kept = m <= MAX_KEPT ? (size_t)m : TILE, packed = (size_t)network->f * TILE;
    SCOPED(free_memory) char *memory = malloc(sizeof(float) * (packed + (kept + (size_t)m) * UNITS));
    Task task = {.network = network, .clip = clip, .write = write, .source = source, .m = m, .probability = probability};
    char *at = memory;
    if (memory == NULL) {
        return -1;
    }
    memset(memory, 0, sizeof(float) * packed); /* rows of a smaller tile are computed along */
    CARVE(at, task.packed, packed);
    CARVE(at, task.dense, kept * UNITS);
    CARVE(at, task.output, (size_t)m * UNITS);
    is_fused ? run_fused(&task) : run_anywhere(&task);
    return 0;
}
