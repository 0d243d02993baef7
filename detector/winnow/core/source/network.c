/* A network over the text blocks of a page in reading order, for winnow.models.blocks: a dense layer, a gated recurrent
   unit in each direction (Cho et al. 2014), a dense layer over the states of both and over their means and maxima on the
   page, and one logit per block, of the probability of content. */
#include <math.h>

#include "page.h"

enum { ROWS = 8, COLUMNS = 16 }; /* of a tile, whose sums stay in registers, half of it at a time */
enum { UNITS = 64, GATES = 3 * UNITS }; /* of a layer, and of a state; winnow.models.blocks has the same numbers */
#define MAX_LOGIT 30.0 /* winnow.models has the same number */
enum { MAX_FEATURES = 1 << 20 };
enum { MAX_KEPT = 4096 }; /* blocks whose first layer is kept for the way back; that of a larger page is computed again */
enum {
    FIRST, SECOND, MEAN, SCALE, DENSE_WEIGHT, DENSE_BIAS, INPUT_WEIGHT, INPUT_BIAS, STATE_WEIGHT, STATE_BIAS,
    OUTPUT_WEIGHT, OUTPUT_BIAS, PAGE_WEIGHT, LAST_WEIGHT, LAST_BIAS, PROBABILITY, ARRAYS
};

#define ALIGNED __attribute__((aligned(64))) /* to a line of the cache */

/* m blocks of f features. */
typedef struct {
    Array arrays[ARRAYS];
    float clip;
    Py_ssize_t m, f;
    float *packed;                            /* [f][ROWS] */
    float *dense;                             /* [m][UNITS], or of a tile */
    float *output;                            /* [m][UNITS]: contribution of the states of both directions */
    ALIGNED double pooled[4 * UNITS];         /* sums of the states, forwards and backwards, and their maxima */
    ALIGNED float states[(ROWS + 1) * UNITS]; /* of a tile, and the last one of the tile before */
    ALIGNED float gates[ROWS * GATES];        /* contribution of the blocks */
    ALIGNED float sums[GATES];                /* contribution of the previous state */
    ALIGNED float of_page[UNITS];             /* contribution of the page */
} Task;

static const float *numbers(const Task *task, int array)
{
    return ITEMS(task->arrays[array], float);
}

/* ---- Products, by the instructions of every processor, and by those of x86-64 processors since 2013; results differ in
   their last bits. Each sum has a variable of its own, which compilers keep in a register; those of an array they write back
   every time. */

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t Mask __attribute__((vector_size(32), aligned(4), may_alias));

#define EIGHT(at) (*(const Eight *)(at))

/* Write the products of some rows, whose values are `step` items apart, and of some columns of a weight to the rows of a
   tile. A weight lies in panels of COLUMNS columns, each k by COLUMNS, which the cache takes in one stream. */
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
#define IN_PANEL(column) ((column) / COLUMNS * COLUMNS * k + (column) % COLUMNS)
#define CLEAR(j, Vector) Vector sum##j = {0};
#define ADD(j, Vector, vectors, multiply_add) \
    sum##j = multiply_add(rows[(j) / (vectors)][i * step] - (Vector){0}, \
                          *(const Vector *)(weight + IN_PANEL(COLUMN(j, Vector, vectors))), sum##j);
#define STORE(j, Vector, vectors) *(Vector *)(tile + (j) / (vectors) * COLUMNS + COLUMN(j, Vector, vectors)) = sum##j;
#define PRODUCT(name, Vector, vectors, multiply_add) \
    static void name(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *weight, float *tile) \
    { \
        Py_ssize_t i; \
        EACH_SUM(CLEAR, Vector) \
        for (i = 0; i < k; i++, weight += COLUMNS) { \
            EACH_SUM(ADD, Vector, vectors, multiply_add) \
        } \
        EACH_SUM(STORE, Vector, vectors) \
    }

#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
PRODUCT(multiply_rows, Four, 2, MULTIPLY_ADD)
PRODUCT(multiply_row, Four, 8, MULTIPLY_ADD)

#if defined(__x86_64__)
#include <immintrin.h>
#define FUSED __attribute__((target("avx2,fma")))
FUSED PRODUCT(multiply_rows_fused, Eight, 2, _mm256_fmadd_ps)
FUSED PRODUCT(multiply_row_fused, Eight, 8, _mm256_fmadd_ps)
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
        float tile[ROWS * COLUMNS];
        for (row = 0; row < count; row += 4) {
            for (column = 0; column < COLUMNS; column += 2 * products.lanes) {
                products.of_rows(rows + row, step, k, weight + first * k + column, tile + row * COLUMNS + column);
            }
        }
        for (row = 0; row < count; row++) {
            float *sums = to + row * stride + first;
            for (column = 0; column < COLUMNS; column++) {
                sums[column] = tile[row * COLUMNS + column] + (bias ? bias[first + column] : sums[column]);
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

/* Load eight numbers, or those that are left and zeros. */
INLINE Eight eight_of(const float *from, Py_ssize_t left)
{
    Eight found = {0};
    return left >= 8 ? EIGHT(from) : *(Eight *)memcpy(&found, from, (size_t)left * sizeof *from);
}

/* Compute the first layer of a tile. */
INLINE void fill_dense(const Task *task, Products products, Py_ssize_t begin, int count, float *dense)
{
    const float *rows[ROWS], *mean = numbers(task, MEAN), *scale = numbers(task, SCALE);
    float *to = task->packed;
    Py_ssize_t i, part, k;
    for (i = 0; i < ROWS; i++) {
        rows[i] = task->packed + i;
    }
    for (part = FIRST, i = 0; part <= SECOND; part++) {
        for (k = begin; k < task->arrays[part].length; k += task->m, i++, to += ROWS) {
            Eight own = eight_of(numbers(task, (int)part) + k, count);
            *(Eight *)to = clipped((own - mean[i]) * scale[i], task->clip);
        }
    }
    fill_rows(products, rows, count, ROWS, task->f, numbers(task, DENSE_WEIGHT), numbers(task, DENSE_BIAS), UNITS, dense,
              UNITS);
    for (i = 0; i < count * UNITS; i++) {
        dense[i] = dense[i] > 0 ? dense[i] : 0;
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
static void pool(double *sums, double *maxima, const float *state)
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
    const float *rows[ROWS], *before = memset(task->states + ROWS * UNITS, 0, UNITS * sizeof *before);
    double *sums = task->pooled + backwards * UNITS, *maxima = sums + 2 * UNITS;
    Py_ssize_t way = backwards ? -1 : 1, begin;
    int row, i;
    for (i = 0; i < UNITS; i++) {
        sums[i] = 0;
        maxima[i] = -1; /* states lie between -1 and 1 */
    }
    for (begin = 0; begin < task->m; begin += ROWS) {
        int count = task->m - begin < ROWS ? (int)(task->m - begin) : ROWS;
        Py_ssize_t first = backwards ? task->m - 1 - begin : begin, lowest = backwards ? first + 1 - count : first;
        float *dense = task->dense + (task->m <= MAX_KEPT ? lowest * UNITS : 0);
        if (!backwards || task->m > MAX_KEPT) {
            fill_dense(task, products, lowest, count, dense);
        }
        for (row = 0; row < ROWS; row++) {
            rows[row] = dense + (first - lowest + way * (row < count ? row : 0)) * UNITS;
        }
        fill_rows(products, rows, count, 1, UNITS, input, numbers(task, INPUT_BIAS) + backwards * GATES, GATES, task->gates,
                  GATES);
        for (row = 0; row < count; row++) {
            float *state = task->states + row * UNITS;
            for (i = 0; i < GATES; i += 8 * products.lanes) { /* to and fro, since half of the weights stay in the cache */
                int column = row % 2 ? GATES - 8 * products.lanes - i : i;
                products.of_row(&before, 1, UNITS, recurrent + column * UNITS, task->sums + column);
            }
            turn(before, task->gates + row * GATES, task->sums, bias, state);
            pool(sums, maxima, state);
            before = state;
        }
        for (row = 0; row < ROWS; row++) {
            rows[row] = task->states + (row < count ? row : 0) * UNITS;
        }
        fill_rows(products, rows, count, 1, UNITS, last, backwards ? NULL : numbers(task, OUTPUT_BIAS), UNITS,
                  task->output + first * UNITS, way * UNITS);
        before = memcpy(task->states + ROWS * UNITS, before, UNITS * sizeof *before); /* the next tile overwrites it */
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
    double *probability = ITEMS(task->arrays[PROBABILITY], double);
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

/* Whether the arrays have the sizes of the network. */
static int fit(const Task *task)
{
    static const int lengths[ARRAYS] = {
        [DENSE_BIAS] = UNITS, [INPUT_WEIGHT] = 2 * UNITS * GATES, [INPUT_BIAS] = 2 * GATES,
        [STATE_WEIGHT] = 2 * UNITS * GATES, [STATE_BIAS] = 2 * UNITS, [OUTPUT_WEIGHT] = 2 * UNITS * UNITS,
        [OUTPUT_BIAS] = UNITS, [PAGE_WEIGHT] = 4 * UNITS * UNITS, [LAST_WEIGHT] = UNITS, [LAST_BIAS] = 1,
    }; /* others depend on the features and blocks */
    const Array *arrays = task->arrays;
    int i, fitting = task->m > 0 && arrays[FIRST].length % task->m == 0 && arrays[SECOND].length % task->m == 0
                     && task->f <= MAX_FEATURES && arrays[MEAN].length == task->f && arrays[SCALE].length == task->f
                     && arrays[DENSE_WEIGHT].length == task->f * UNITS;
    for (i = 0; i < ARRAYS; i++) {
        fitting &= !lengths[i] || arrays[i].length == lengths[i];
    }
    return fitting;
}

/* Allocate the buffers; NULL without memory. */
static char *allocate(Task *task)
{
    size_t m = (size_t)task->m, kept = m <= MAX_KEPT ? m : ROWS, packed = (size_t)task->f * ROWS;
    char *memory = malloc(sizeof(float) * (packed + (kept + m) * UNITS)), *at = memory;
    if (memory != NULL) {
        CARVE(at, task->packed, packed);
        CARVE(at, task->dense, kept * UNITS);
        CARVE(at, task->output, m * UNITS);
    }
    return memory;
}

static void release(Task *task)
{
    arrays_release(task->arrays, ARRAYS);
}

/* content_probability(first: float32[k, m], second: float32[l, m], clip, mean: float32[f], scale: float32[f],
                       dense_weight: float32[f, u], dense_bias: float32[u], input_weight: float32[2, u, 3 u],
                       input_bias: float32[2, 3 u],
                       state_weight: float32[2, u, 3 u], state_bias: float32[2, u], output_weight: float32[2, u, u],
                       output_bias: float32[u], page_weight: float32[4 u, u], last_weight: float32[u], last_bias: float32[1],
                       probability: float64[m])

   u is UNITS. first, second: features, k + l = f. The first four weights are in panels of COLUMNS columns, float32[...,
   columns / COLUMNS, rows, COLUMNS]. */
PyObject *core_content_probability(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(release) Task task = {0};
    SCOPED(free_memory) char *memory = NULL;
    Array *arrays = task.arrays;
    if (!PyArg_ParseTuple(arguments, "O&O&fO&O&O&O&O&O&O&O&O&O&O&O&O&O&", in_4, &arrays[FIRST], in_4, &arrays[SECOND],
                          &task.clip, in_4, &arrays[MEAN], in_4, &arrays[SCALE], in_4, &arrays[DENSE_WEIGHT], in_4,
                          &arrays[DENSE_BIAS], in_4, &arrays[INPUT_WEIGHT], in_4, &arrays[INPUT_BIAS], in_4,
                          &arrays[STATE_WEIGHT], in_4, &arrays[STATE_BIAS], in_4, &arrays[OUTPUT_WEIGHT], in_4,
                          &arrays[OUTPUT_BIAS], in_4, &arrays[PAGE_WEIGHT], in_4, &arrays[LAST_WEIGHT], in_4,
                          &arrays[LAST_BIAS], out_8, &arrays[PROBABILITY])) {
        return NULL;
    }
    task.m = arrays[PROBABILITY].length;
    task.f = task.m ? (arrays[FIRST].length + arrays[SECOND].length) / task.m : 0;
    if (!check_arrays(fit(&task))) {
        return NULL;
    }
    if ((memory = allocate(&task)) == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    is_fused ? run_fused(&task) : run_anywhere(&task);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
