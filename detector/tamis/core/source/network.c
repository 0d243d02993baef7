/* A network over the text blocks of a page in reading order, for tamis.models.blocks: a dense layer, a gated recurrent
   unit in each direction (Cho et al. 2014), a dense layer over the states of both and over their means and maxima on the
   page, and one logit per block, of the probability of content. */
#include "network.h"

enum { TILE = 16, SHARE = 8 };          /* blocks that are computed at a time; those whose first layer has one quantum */
enum { UNITS = 64, GATES = 3 * UNITS }; /* of a layer, and of a state; tamis.models.blocks has the same numbers */
#define STEPS ((float)LARGEST_INPUT)

#define ALIGNED __attribute__((aligned(64))) /* to a line of the cache */

/* m blocks of f features. */
typedef struct {
    const Network *network;
    float clip;
    WriteFeatures write;
    void *source;
    Py_ssize_t m;
    double *probability;               /* [m] */
    float *features;                   /* [f]: of a block */
    int16_t *standardised;             /* [TILE][f], and one more if f is odd */
    int16_t *rows;                     /* [m][2 * UNITS]: states forwards; the first layer, then states backwards */
    float *quantum;                    /* of each share: what an integer of 1 stands for in its first layer */
    double pooled[4 * UNITS];          /* sums of the states, forwards and backwards, and their maxima */
    ALIGNED float state[UNITS];        /* the last one */
    ALIGNED float gates[TILE * GATES]; /* contribution of the blocks; what another layer computes of a tile */
    ALIGNED float sums[GATES];         /* contribution of the previous state */
    ALIGNED float of_page[UNITS];      /* contribution of the page, and the bias of the last layer */
} Task;

static const float *numbers(const Task *task, int array)
{
    return ITEMS(task->network->arrays[array], float);
}

static const int16_t *integers(const Task *task, int array)
{
    return ITEMS(task->network->arrays[array], int16_t);
}

/* ---- Products of integers: those of a weight are so small that no sum of products overflows */

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef float Sixteen __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t FourIntegers __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t EightIntegers __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t SixteenIntegers __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t Pair __attribute__((aligned(2), may_alias)); /* of integers of 16 bits */

#pragma GCC diagnostic ignored "-Wpsabi" /* no function that takes or returns vectors is called: all are inlined */
#define INLINE static inline __attribute__((always_inline))

/* An input of a layer: k integers, what 1 in their products stands for, and where the results go. */
typedef struct {
    const int16_t *integers;
    float quantum;
    float *to;
} Row;

/* The products by the instructions of every processor, or of x86-64 processors since 2013 or 2019: the results are the same. */
typedef struct {
    void (*multiply)(const Row *rows, int count, int vectors, Py_ssize_t k, const int16_t *weight, int panel,
                     const float *bias, Py_ssize_t column);
    int lanes;   /* of a vector */
    int vectors; /* of four rows that are computed at once */
} Products;

/* Compute some columns of a layer, up to sixteen vectors: `vectors` of each of `count` rows. A weight lies in panels of columns,
   each two of the k by `panel` numbers, which the cache takes in one stream. Each sum has a variable of its own, which
   compilers keep in a register; those of an array they write back every time. */
#define EACH_SUM(DO, ...) \
    DO(0, __VA_ARGS__) DO(1, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) \
    DO(4, __VA_ARGS__) DO(5, __VA_ARGS__) DO(6, __VA_ARGS__) DO(7, __VA_ARGS__) \
    DO(8, __VA_ARGS__) DO(9, __VA_ARGS__) DO(10, __VA_ARGS__) DO(11, __VA_ARGS__) \
    DO(12, __VA_ARGS__) DO(13, __VA_ARGS__) DO(14, __VA_ARGS__) DO(15, __VA_ARGS__)
#define CLEAR(j, Sum) Sum sum##j = {0};
#define ADD(j, add_pairs, lanes) \
    if ((j) < vectors * count) { \
        sum##j = add_pairs(sum##j, weight + (j) % vectors * 2 * (lanes), *(const Pair *)(rows[(j) / vectors].integers + i)); \
    }
#define STORE(j, Vector, total, lanes) \
    if ((j) < vectors * count) { \
        *(Vector *)(rows[(j) / vectors].to + column + (j) % vectors * (lanes)) = \
            __builtin_convertvector(total(sum##j), Vector) * rows[(j) / vectors].quantum \
            + *(const Vector *)(bias + column + (j) % vectors * (lanes)); \
    }
#define MULTIPLY(name, Sum, Vector, lanes, add_pairs, total) \
    INLINE void name(const Row *rows, int count, int vectors, Py_ssize_t k, const int16_t *weight, int panel, \
                     const float *bias, Py_ssize_t column) \
    { \
        Py_ssize_t i; \
        weight += column / panel * panel * k + column % panel * 2; \
        EACH_SUM(CLEAR, Sum) \
        for (i = 0; i < k; i += 2, weight += 2 * panel) { \
            EACH_SUM(ADD, add_pairs, lanes) \
        } \
        EACH_SUM(STORE, Vector, total, lanes) \
    }

#define AS_IT_IS(sum) (sum)

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

INLINE FourIntegers add_pairs(FourIntegers sum, const int16_t *weight, int32_t pair)
{
    return sum + (FourIntegers)_mm_madd_epi16(_mm_loadu_si128((const __m128i *)weight), _mm_set1_epi32(pair));
}
MULTIPLY(multiply, FourIntegers, Four, 4, add_pairs, AS_IT_IS)

AVX2 INLINE EightIntegers add_pairs_avx2(EightIntegers sum, const int16_t *weight, int32_t pair)
{
    return sum + (EightIntegers)_mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)weight), _mm256_set1_epi32(pair));
}
AVX2 MULTIPLY(multiply_avx2, EightIntegers, Eight, 8, add_pairs_avx2, AS_IT_IS)

AVX512 INLINE SixteenIntegers add_pairs_avx512(SixteenIntegers sum, const int16_t *weight, int32_t pair)
{
    return (SixteenIntegers)_mm512_dpwssd_epi32((__m512i)sum, _mm512_loadu_si512(weight), _mm512_set1_epi32(pair));
}
AVX512 MULTIPLY(multiply_avx512, SixteenIntegers, Sixteen, 16, add_pairs_avx512, AS_IT_IS)
#elif defined(__aarch64__)
#include <arm_neon.h>
typedef struct {
    int32x4_t low, high; /* products of two columns each, those of a pair not yet added to each other */
} Sum;
#define ADD_UP(sum) vpaddq_s32(sum.low, sum.high)

INLINE Sum add_pairs(Sum sum, const int16_t *weight, int32_t pair)
{
    int16x8_t weights = vld1q_s16(weight), pairs = vreinterpretq_s16_s32(vdupq_n_s32(pair));
    return (Sum){vmlal_s16(sum.low, vget_low_s16(weights), vget_low_s16(pairs)), vmlal_high_s16(sum.high, weights, pairs)};
}
MULTIPLY(multiply, Sum, Four, 4, add_pairs, ADD_UP)
#else
INLINE FourIntegers add_pairs(FourIntegers sum, const int16_t *weight, int32_t pair)
{
    FourIntegers weights = *(const FourIntegers *)weight;
    return sum + (weights << 16 >> 16) * (int16_t)pair + (weights >> 16) * (pair >> 16);
}
MULTIPLY(multiply, FourIntegers, Four, 4, add_pairs, AS_IT_IS)
#endif

/* Compute a layer of `columns` columns for the rows of a tile, of k integers each, which begin `stride` apart; `shares`: what
   the quantum is multiplied by in each share, if not NULL. */
INLINE void apply(Products products, const int16_t *integers, Py_ssize_t stride, float quantum, const float *shares, int count,
                  Py_ssize_t k, const int16_t *weight, const float *bias, Py_ssize_t columns, float *to)
{
    Row rows[TILE];
    Py_ssize_t column;
    int row;
    for (row = 0; row < TILE; row++) {
        int own = row < count ? row : 0; /* those after the last repeat the first */
        rows[row] = (Row){integers + own * stride, shares ? shares[own / SHARE] * quantum : quantum, to + own * columns};
    }
    for (column = 0; column < columns; column += products.vectors * products.lanes) {
        for (row = 0; row < count; row += 4) {
            products.multiply(rows + row, 4, products.vectors, k, weight, UNITS, bias, column);
        }
    }
}

INLINE int16_t rounded(float x) /* of -STEPS to STEPS */
{
    return (int16_t)((int32_t)(x + (STEPS + 0.5f)) - (int32_t)STEPS);
}

/* ---- The layers */

/* Plain loops over a layer, which compilers make vectors of. */

INLINE float clipped(float x, float most)
{
    x = x < most ? x : most;
    return x > -most ? x : -most;
}

/* The blocks of a tile. */
INLINE int size_of(const Task *task, Py_ssize_t tile)
{
    return (int)(task->m - tile * TILE < TILE ? task->m - tile * TILE : TILE);
}

/* Compute the first layer of a tile. */
INLINE void fill_dense(Task *task, Products products, Py_ssize_t tile)
{
    const float *mean = numbers(task, MEAN), *scale = numbers(task, SCALE), clip = task->clip, steps = STEPS / clip;
    float *features = task->features, *layer = task->gates, quantum;
    int32_t *bits = (int32_t *)(void *)layer, largest = 0; /* they are ordered as the numbers */
    Py_ssize_t f = task->network->f, k = f + f % 2, i;
    int count = size_of(task, tile), row;
    for (row = 0; row < count; row++) {
        int16_t *restrict to = task->standardised + row * k;
        task->write(task->source, tile * TILE + row, features);
        for (i = 0; i < f; i++) {
            to[i] = rounded(clipped((features[i] - mean[i]) * scale[i], clip) * steps);
        }
    }
    apply(products, task->standardised, k, numbers(task, QUANTA)[OF_DENSE] / steps, NULL, count, k, integers(task, DENSE_WEIGHT),
          numbers(task, DENSE_BIAS), UNITS, layer);
    for (row = 0; row < count; row += SHARE) {
        int own = count - row < SHARE ? count - row : SHARE;
        int16_t *to = task->rows + (2 * (tile * TILE + row) + 1) * UNITS;
        largest = 0;
        for (i = 0; i < own * UNITS; i++) {
            bits[i] = bits[i] > 0 ? bits[i] : 0;
            largest = bits[i] > largest ? bits[i] : largest;
        }
        memcpy(&quantum, &largest, sizeof quantum);
        task->quantum[(tile * TILE + row) / SHARE] = quantum = (float)larger(quantum, 1e-9) / STEPS;
        for (; own > 0; own--, to += 2 * UNITS, layer += UNITS, bits += UNITS) {
            for (i = 0; i < UNITS; i++) {
                to[i] = rounded(layer[i] * (1 / quantum));
            }
        }
    }
}

/* tanh as a ratio of polynomials, to 1e-6. */
typedef struct {
    float above, below;
} Ratio;

INLINE Ratio tanh_of(float x)
{
    static const float above[] = {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                                  1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f};
    static const float below[] = {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f};
    Ratio ratio = {-2.76076847742355e-16f, 1.19825839466702e-06f};
    float square;
    int i;
    x = clipped(x, 7.9f);
    square = x * x;
    for (i = 0; i < 6; i++) {
        ratio.above = ratio.above * square + above[i];
    }
    for (i = 0; i < 3; i++) {
        ratio.below = ratio.below * square + below[i];
    }
    ratio.above *= x;
    return ratio;
}

/* Compute the new state from what the block and the previous state add to the gates. A division serves two gates, which are
   (1 + tanh(x / 2)) / 2. */
INLINE void turn(const float *gates, const float *sums, float *state, int16_t *to)
{
    ALIGNED float updates[UNITS], resets[UNITS]; /* in a loop of their own, since a candidate waits for them */
    int i;
    for (i = 0; i < UNITS; i++) {
        Ratio update = tanh_of(0.5f * (gates[i] + sums[i])), reset = tanh_of(0.5f * (gates[UNITS + i] + sums[UNITS + i]));
        float half = 0.5f / (update.below * reset.below);
        updates[i] = update.above * reset.below * half + 0.5f;
        resets[i] = reset.above * update.below * half + 0.5f;
    }
    for (i = 0; i < UNITS; i++) {
        Ratio ratio = tanh_of(gates[2 * UNITS + i] + resets[i] * sums[2 * UNITS + i]);
        float candidate = ratio.above / ratio.below;
        state[i] = candidate + updates[i] * (state[i] - candidate);
    }
    for (i = 0; i < UNITS; i++) {
        to[i] = rounded(state[i] * STEPS);
    }
}

/* Add the states of a tile to the sums and maxima over the page. */
INLINE void pool(double *sums, double *maxima, const int16_t *states, int count)
{
    int32_t sum[UNITS] = {0};
    int16_t most[UNITS];
    int i;
    memcpy(most, states, sizeof most);
    for (; count > 0; count--, states += 2 * UNITS) {
        for (i = 0; i < UNITS; i++) {
            sum[i] += states[i];
            most[i] = states[i] > most[i] ? states[i] : most[i];
        }
    }
    for (i = 0; i < UNITS; i++) {
        sums[i] += sum[i];
        maxima[i] = larger(most[i], maxima[i]);
    }
}

/* Read the blocks in one direction, a tile at a time: what they add to the gates, and the states step by step. */
INLINE void read_blocks(Task *task, int backwards, Products products)
{
    static const int16_t none[UNITS];
    const int16_t *input = integers(task, INPUT_WEIGHT) + backwards * UNITS * GATES, *before = none;
    const int16_t *recurrent = integers(task, STATE_WEIGHT) + backwards * UNITS * GATES;
    const float *input_bias = numbers(task, INPUT_BIAS) + backwards * GATES, *quantum = numbers(task, QUANTA);
    const float *state_bias = numbers(task, STATE_BIAS) + backwards * GATES;
    double *sums = task->pooled + backwards * UNITS, *maxima = sums + 2 * UNITS;
    Py_ssize_t tiles = (task->m + TILE - 1) / TILE, done;
    int i;
    memset(task->state, 0, sizeof task->state);
    for (i = 0; i < UNITS; i++) {
        sums[i] = 0;
        maxima[i] = -STEPS;
    }
    for (done = 0; done < tiles; done++) {
        Py_ssize_t tile = backwards ? tiles - 1 - done : done;
        int16_t *rows = task->rows + tile * TILE * 2 * UNITS;
        int count = size_of(task, tile), step;
        if (!backwards) {
            fill_dense(task, products, tile);
        }
        apply(products, rows + UNITS, 2 * UNITS, quantum[OF_INPUT], task->quantum + tile * (TILE / SHARE), count, UNITS, input,
              input_bias, GATES, task->gates);
        for (step = 0; step < count; step++) {
            int row = backwards ? count - 1 - step : step, column;
            int16_t *state = rows + (2 * row + backwards) * UNITS;
            Row last = {before, quantum[OF_STATE] / STEPS, task->sums};
            for (column = 0; column < GATES; column += 12 * products.lanes) {
                products.multiply(&last, 1, 12, UNITS, recurrent, GATES, state_bias, column);
            }
            turn(task->gates + row * GATES, task->sums, task->state, state);
            before = state;
        }
        pool(sums, maxima, rows + backwards * UNITS, count);
    }
}

/* What the means and maxima of the states over the page add to the last layer, and its bias. */
static void fill_of_page(Task *task)
{
    const float *weight = numbers(task, PAGE_WEIGHT);
    int i, j;
    memcpy(task->of_page, numbers(task, OUTPUT_BIAS), sizeof task->of_page);
    for (i = 0; i < 4 * UNITS; i++, weight += UNITS) {
        float value = (float)(task->pooled[i] / (i < 2 * UNITS ? (double)task->m * STEPS : STEPS));
        for (j = 0; j < UNITS; j++) {
            task->of_page[j] += value * weight[j];
        }
    }
}

/* Compute the last layer of all blocks. */
INLINE void fill_probabilities(Task *task, Products products)
{
    const float *weight = numbers(task, LAST_WEIGHT), quantum = numbers(task, QUANTA)[OF_OUTPUT] / STEPS, *layer;
    Py_ssize_t tile;
    int row, i;
    for (tile = 0; tile * TILE < task->m; tile++) {
        int count = size_of(task, tile);
        apply(products, task->rows + tile * TILE * 2 * UNITS, 2 * UNITS, quantum, NULL, count, 2 * UNITS,
              integers(task, OUTPUT_WEIGHT), task->of_page, UNITS, task->gates);
        for (row = 0, layer = task->gates; row < count; row++, layer += UNITS) {
            Eight sums = {*numbers(task, LAST_BIAS)};
            float sum = 0;
            for (i = 0; i < UNITS; i += 8) {
                Eight x = *(const Eight *)(layer + i);
                sums += (Eight)((EightIntegers)x & (x > 0)) * *(const Eight *)(weight + i);
            }
            for (i = 0; i < 8; i++) {
                sum += sums[i];
            }
            task->probability[tile * TILE + row] = probability_of(sum);
        }
    }
}

INLINE void run(Task *task, Products products)
{
    int backwards;
    for (backwards = 0; backwards < 2; backwards++) {
        read_blocks(task, backwards, products);
    }
    fill_of_page(task);
    fill_probabilities(task, products);
}

static void run_anywhere(Task *task)
{
    run(task, (Products){multiply, 4, 2});
}

static void (*run_here)(Task *task) = run_anywhere;

#if defined(__x86_64__)
AVX2 static void run_avx2(Task *task)
{
    run(task, (Products){multiply_avx2, 8, 2});
}

AVX512 static void run_avx512(Task *task)
{
    run(task, (Products){multiply_avx512, 16, 4});
}
#endif

void core_prepare_network(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init(); /* asked once: it takes a virtual machine long */
    if (__builtin_cpu_supports("avx2")) {
        run_here = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") ? run_avx512 : run_avx2;
    }
#endif
}

int in_network(PyObject *tuple, void *weights)
{
    static const int lengths[WEIGHTS] = {
        [DENSE_BIAS] = UNITS, [INPUT_WEIGHT] = 2 * UNITS * GATES, [INPUT_BIAS] = 2 * GATES,
        [STATE_WEIGHT] = 2 * UNITS * GATES, [STATE_BIAS] = 2 * GATES, [OUTPUT_WEIGHT] = 2 * UNITS * UNITS,
        [OUTPUT_BIAS] = UNITS, [PAGE_WEIGHT] = 4 * UNITS * UNITS, [LAST_WEIGHT] = UNITS, [LAST_BIAS] = 1,
        [QUANTA] = INTEGER_LAYERS,
    }; /* others depend on the features */
    static const Py_ssize_t sizes[WEIGHTS] = {4, 4, 2, 4, 2, 4, 2, 4, 2, 4, 4, 4, 4, 4};
    Network *network = weights;
    const Array *arrays = network->arrays;
    Py_ssize_t f;
    int i, fitting;
    if (!arrays_borrow(tuple, network->arrays, sizes, WEIGHTS)) {
        return 0;
    }
    f = network->f = arrays[MEAN].length;
    fitting = arrays[SCALE].length == f && arrays[DENSE_WEIGHT].length == (f + f % 2) * UNITS;
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
    size_t f = (size_t)network->f, blocks = (size_t)m;
    size_t floats = f + blocks / SHARE + 1, integers = TILE * (f + f % 2) + 2 * UNITS * blocks;
    SCOPED(free_memory) char *memory = malloc(sizeof(float) * floats + sizeof(int16_t) * integers);
    Task task = {.network = network, .clip = clip, .write = write, .source = source, .m = m, .probability = probability};
    char *at = memory;
    if (memory == NULL) {
        return -1;
    }
    CARVE(at, task.features, f);
    CARVE(at, task.quantum, blocks / SHARE + 1);
    CARVE(at, task.rows, 2 * UNITS * blocks);
    CARVE(at, task.standardised, TILE * (f + f % 2));
    memset(task.standardised, 0, sizeof(int16_t) * TILE * (f + f % 2));
    run_here(&task);
    return 0;
}
