/* A network over the text blocks of a page in reading order, for winnow.models.sequence: a dense layer, a gated recurrent
   unit in each direction (Cho et al. 2014), a dense layer over the states of both and over their means and maxima on the
   page, and one logit per block. */
#include "core.h"

enum { STEP_COLUMNS = 64 }; /* of a recurrent matrix, summed in registers; equals winnow.models.sequence.STEP_PANEL */
enum { MAX_PARTS = 4, MAX_UNITS = 1 << 10 };
enum {
    MEAN, SCALE, DENSE_PANELS, DENSE_BIAS, INPUT_PANELS, INPUT_BIAS, STATE_PANELS, STATE_BIAS, OUTPUT_PANELS, OUTPUT_BIAS,
    PAGE_WEIGHT, LAST_WEIGHT, LOGITS, ARRAYS
};

/* m blocks of f features; c dense units, a state of s, o output units; panels of the columns of 3 s gates, and of o. */
typedef struct {
    Array parts[MAX_PARTS], arrays[ARRAYS];
    int count; /* of parts of the features */
    float clip;
    Py_ssize_t m, f, c, s, o, gate_panels, step_panels;
    float *packed; /* [f][TILE_ROWS] */
    float *dense;  /* [m][c] */
    float *output; /* [m][o]: contribution of the states of both directions */
    float *states; /* [TILE_ROWS + 1][s]: of a tile, and the last one of the tile before */
    double *pooled; /* [4 s]: sums of the states, forwards and backwards, and their maxima */
    float *gates;  /* [TILE_ROWS][3 s]: contribution of the blocks */
    float *sums;   /* [step_panels][STEP_COLUMNS]: contribution of the previous state */
    float *of_page; /* [o]: contribution of the page */
} Task;

typedef void (*Advance)(const Task *task, int backwards, const float *before, const float *gates, float *state);

static Py_ssize_t panels_of(Py_ssize_t columns, Py_ssize_t width)
{
    return (columns + width - 1) / width;
}

/* Write the products of a few rows and of a weight of so many columns, in panels, plus a bias, or add them to what is
   there if there is none. The results of one row lie `stride` numbers behind those of the row before. */
static void fill_rows(const float *const *rows, int count, Py_ssize_t step, Py_ssize_t k, const float *panels,
                      const float *bias, Py_ssize_t columns, float *to, Py_ssize_t stride)
{
    float tile[TILE_ROWS * TILE_COLUMNS];
    Py_ssize_t first, column;
    int row;
    for (first = 0; first < columns; first += TILE_COLUMNS, panels += k * TILE_COLUMNS) {
        Py_ssize_t width = columns - first < TILE_COLUMNS ? columns - first : TILE_COLUMNS;
        core_multiply(rows, step, k, panels, tile);
        for (row = 0; row < count; row++) {
            for (column = 0; column < width; column++) {
                float *sum = &to[row * stride + first + column];
                *sum = tile[row * TILE_COLUMNS + column] + (bias ? bias[first + column] : *sum);
            }
        }
    }
}

static void rectify(float *values, Py_ssize_t count)
{
    Py_ssize_t i;
    for (i = 0; i < count; i++) {
        values[i] = values[i] > 0 ? values[i] : 0;
    }
}

static void fill_dense(const Task *task)
{
    const float *rows[TILE_ROWS];
    Py_ssize_t begin, i;
    int part;
    for (begin = 0; begin < task->m; begin += TILE_ROWS) {
        int count = task->m - begin < TILE_ROWS ? (int)(task->m - begin) : TILE_ROWS;
        const float *mean = ITEMS(task->arrays[MEAN], float), *scale = ITEMS(task->arrays[SCALE], float);
        float *to = task->packed;
        for (part = 0; part < task->count; part++) {
            const float *from = ITEMS(task->parts[part], float) + begin;
            Py_ssize_t features = task->parts[part].length / task->m;
            for (; features > 0; features--, from += task->m, to += TILE_ROWS, mean++, scale++) {
                for (i = 0; i < count; i++) {
                    float value = (from[i] - *mean) * *scale;
                    value = value > -task->clip ? value : -task->clip;
                    to[i] = value < task->clip ? value : task->clip;
                }
            }
        }
        for (i = 0; i < TILE_ROWS; i++) {
            rows[i] = task->packed + i;
        }
        fill_rows(rows, count, TILE_ROWS, task->f, ITEMS(task->arrays[DENSE_PANELS], float),
                  ITEMS(task->arrays[DENSE_BIAS], float), task->c, task->dense + begin * task->c, task->c);
        rectify(task->dense + begin * task->c, count * task->c);
    }
}

/* ---- One step of a state. tanh is approximated by a ratio of polynomials, to 1e-6. */

typedef float Eight __attribute__((vector_size(32)));
typedef int32_t Mask __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

INLINE Eight chosen(Mask mask, Eight yes, Eight no)
{
    return (Eight)(((Mask)yes & mask) | ((Mask)no & ~mask));
}

INLINE Eight tanh_of(Eight x)
{
    Eight most = (Eight){0} + 7.9f, square, above, below;
    x = chosen(x < most, x, most);
    x = chosen(x > -most, x, -most);
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

/* Load up to eight numbers, padded with zeros. */
INLINE Eight eight_of(const float *from, Py_ssize_t count)
{
    Eight found = {0};
    if (count >= 8) {
        memcpy(&found, from, sizeof found);
    } else {
        memcpy(&found, from, (size_t)count * sizeof *from);
    }
    return found;
}

/* Compute the new state from what the block and the previous state add to the gates. */
INLINE void turn(Py_ssize_t s, const float *before, const float *gates, const float *sums, const float *bias, float *state)
{
    Py_ssize_t i;
    for (i = 0; i < s; i += 8) {
        Py_ssize_t count = s - i < 8 ? s - i : 8;
        Eight old = eight_of(before + i, count), update, reset, candidate;
        update = 0.5f + 0.5f * tanh_of(0.5f * (eight_of(gates + i, count) + eight_of(sums + i, count)));
        reset = 0.5f + 0.5f * tanh_of(0.5f * (eight_of(gates + s + i, count) + eight_of(sums + s + i, count)));
        candidate = eight_of(sums + 2 * s + i, count) + eight_of(bias + i, count);
        candidate = tanh_of(eight_of(gates + 2 * s + i, count) + reset * candidate);
        candidate += update * (old - candidate);
        memcpy(state + i, &candidate, (size_t)count * sizeof *state);
    }
}

#define EACH_OF_EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define CLEAR(at) Eight sum##at = {0};
#define ADD(at) \
    memcpy(&items, panel + at * 8, sizeof items); \
    sum##at = MULTIPLY_ADD(items, value, sum##at);
#define STORE(at) memcpy(sums + at * 8, &sum##at, sizeof(Eight));

#define ADVANCE \
    const float *panel = ITEMS(task->arrays[STATE_PANELS], float) \
                         + backwards * task->step_panels * task->s * STEP_COLUMNS; \
    float *sums = task->sums; \
    Py_ssize_t number, i, s = task->s; \
    for (number = 0; number < task->step_panels; number++, sums += STEP_COLUMNS) { \
        EACH_OF_EIGHT(CLEAR) \
        for (i = 0; i < s; i++, panel += STEP_COLUMNS) { \
            Eight items, value = (Eight){0} + before[i]; \
            EACH_OF_EIGHT(ADD) \
        } \
        EACH_OF_EIGHT(STORE) \
    } \
    turn(s, before, gates, task->sums, ITEMS(task->arrays[STATE_BIAS], float) + backwards * s, state);

#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
static void advance_anywhere(const Task *task, int backwards, const float *before, const float *gates, float *state)
{
    ADVANCE
}

#if defined(__x86_64__)
#include <immintrin.h>
#undef MULTIPLY_ADD
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
__attribute__((target("avx2,fma"))) static void advance_fused(const Task *task, int backwards, const float *before,
                                                              const float *gates, float *state)
{
    ADVANCE
}
#endif

/* Add a state to the sums and maxima over the page. */
static void pool(double *sums, double *maxima, const float *state, Py_ssize_t s)
{
    Py_ssize_t i;
    for (i = 0; i < s; i++) {
        sums[i] += state[i];
        maxima[i] = state[i] > maxima[i] ? state[i] : maxima[i];
    }
}

/* Read the blocks in one direction, a tile at a time: what they add to the gates, the states step by step, and what these
   add to the last layer. */
static void read_blocks(const Task *task, int backwards, Advance step)
{
    static const float nothing[MAX_UNITS];
    const float *before = nothing, *rows[TILE_ROWS];
    Py_ssize_t s = task->s, o = task->o, begin, i;
    const float *panels = ITEMS(task->arrays[INPUT_PANELS], float)
                          + backwards * task->gate_panels * task->c * TILE_COLUMNS;
    const float *bias = ITEMS(task->arrays[INPUT_BIAS], float) + backwards * 3 * s;
    const float *output = ITEMS(task->arrays[OUTPUT_PANELS], float)
                          + backwards * panels_of(o, TILE_COLUMNS) * s * TILE_COLUMNS;
    double *sums = task->pooled + backwards * s, *maxima = sums + 2 * s;
    int row;
    for (i = 0; i < s; i++) {
        sums[i] = 0;
        maxima[i] = -1; /* states lie between -1 and 1 */
    }
    for (begin = 0; begin < task->m; begin += TILE_ROWS) {
        int count = task->m - begin < TILE_ROWS ? (int)(task->m - begin) : TILE_ROWS;
        Py_ssize_t first = backwards ? task->m - 1 - begin : begin, way = backwards ? -1 : 1;
        for (row = 0; row < TILE_ROWS; row++) {
            rows[row] = task->dense + (first + way * (row < count ? row : 0)) * task->c;
        }
        fill_rows(rows, count, 1, task->c, panels, bias, 3 * s, task->gates, 3 * s);
        for (row = 0; row < count; row++) {
            float *state = task->states + row * s;
            step(task, backwards, before, task->gates + row * 3 * s, state);
            pool(sums, maxima, state, s);
            before = state;
        }
        for (row = 0; row < TILE_ROWS; row++) {
            rows[row] = task->states + (row < count ? row : 0) * s;
        }
        fill_rows(rows, count, 1, s, output, backwards ? NULL : ITEMS(task->arrays[OUTPUT_BIAS], float), o,
                  task->output + first * o, way * o);
        before = memcpy(task->states + TILE_ROWS * s, before, (size_t)s * sizeof *before); /* the next tile overwrites it */
    }
}

/* What the means and maxima of the states over the page add to the last layer. */
static void fill_of_page(const Task *task)
{
    const float *weight = ITEMS(task->arrays[PAGE_WEIGHT], float);
    Py_ssize_t states = 2 * task->s, i, j;
    memset(task->of_page, 0, (size_t)task->o * sizeof *task->of_page);
    for (i = 0; i < 2 * states; i++, weight += task->o) {
        float value = (float)(i < states ? task->pooled[i] / (double)task->m : task->pooled[i]);
        for (j = 0; j < task->o; j++) {
            task->of_page[j] += value * weight[j];
        }
    }
}

static void fill_logits(const Task *task, float last_bias)
{
    const float *weight = ITEMS(task->arrays[LAST_WEIGHT], float), *output = task->output;
    float *logits = ITEMS(task->arrays[LOGITS], float);
    Py_ssize_t block, i;
    for (block = 0; block < task->m; block++, output += task->o) {
        float sum = last_bias;
        for (i = 0; i < task->o; i++) {
            float value = output[i] + task->of_page[i];
            sum += (value > 0 ? value : 0) * weight[i];
        }
        logits[block] = sum;
    }
}

/* Borrow the parts of the features: 1, 0 if they do not fit, -1 with an exception set. */
static int borrow_features(Task *task, PyObject *parts)
{
    Py_ssize_t count = PyTuple_Size(parts);
    if (count < 1 || count > MAX_PARTS || task->m < 1) {
        return 0;
    }
    while (task->count < count) {
        Array *part = &task->parts[task->count];
        if (array_borrow(part, PyTuple_GetItem(parts, task->count++), 4, 0, "part") < 0) {
            return -1;
        }
        if (part->length % task->m != 0) {
            return 0;
        }
        task->f += part->length / task->m;
    }
    return 1;
}

/* Read the sizes and check them; 0 if they do not fit. */
static int measure(Task *task)
{
    const Array *arrays = task->arrays;
    task->c = arrays[DENSE_BIAS].length;
    task->s = arrays[STATE_BIAS].length / 2;
    task->o = arrays[OUTPUT_BIAS].length;
    if (task->c < 1 || task->s < 1 || task->o < 1 || task->c > MAX_UNITS || task->s > MAX_UNITS || task->o > MAX_UNITS
        || task->f > 1 << 20) {
        return 0;
    }
    task->gate_panels = panels_of(3 * task->s, TILE_COLUMNS);
    task->step_panels = panels_of(3 * task->s, STEP_COLUMNS);
    return arrays[MEAN].length == task->f && arrays[SCALE].length == task->f
           && arrays[DENSE_PANELS].length == panels_of(task->c, TILE_COLUMNS) * task->f * TILE_COLUMNS
           && arrays[INPUT_PANELS].length == 2 * task->gate_panels * task->c * TILE_COLUMNS
           && arrays[INPUT_BIAS].length == 6 * task->s && arrays[STATE_BIAS].length == 2 * task->s
           && arrays[STATE_PANELS].length == 2 * task->step_panels * task->s * STEP_COLUMNS
           && arrays[OUTPUT_PANELS].length == panels_of(task->o, TILE_COLUMNS) * 2 * task->s * TILE_COLUMNS
           && arrays[PAGE_WEIGHT].length == 4 * task->s * task->o
           && arrays[LAST_WEIGHT].length == task->o && arrays[LOGITS].length == task->m;
}

/* 0, or -1 without memory. */
static int prepare(Task *task)
{
    size_t size = sizeof(float);
    task->packed = calloc((size_t)(task->f * TILE_ROWS) + 1, size);
    task->dense = malloc(size * (size_t)(task->m * task->c));
    task->output = malloc(size * (size_t)(task->m * task->o));
    task->states = malloc(size * (size_t)((TILE_ROWS + 1) * task->s));
    task->pooled = malloc(sizeof *task->pooled * (size_t)(4 * task->s));
    task->gates = malloc(size * (size_t)(TILE_ROWS * 3 * task->s));
    task->sums = malloc(size * (size_t)(task->step_panels * STEP_COLUMNS));
    task->of_page = malloc(size * (size_t)task->o);
    return task->packed && task->dense && task->output && task->states && task->pooled && task->gates && task->sums
                   && task->of_page
               ? 0
               : -1;
}

static void release(Task *task)
{
    free(task->of_page);
    free(task->sums);
    free(task->gates);
    free(task->pooled);
    free(task->states);
    free(task->output);
    free(task->dense);
    free(task->packed);
    arrays_release(task->parts, task->count);
    arrays_release(task->arrays, ARRAYS);
}

/* sequence_logits(parts: tuple of float32[..., m], clip, mean: float32[f], scale: float32[f],
                   dense_panels: float32[panels, f, TILE_COLUMNS], dense_bias: float32[c],
                   input_panels: float32[2, panels, c, TILE_COLUMNS], input_bias: float32[2, 3 s],
                   state_panels: float32[2, panels, s, STEP_COLUMNS], state_bias: float32[2, s],
                   output_panels: float32[2, panels, s, TILE_COLUMNS], output_bias: float32[o],
                   page_weight: float32[4 s, o], last_weight: float32[o], last_bias, logits: float32[m])

   parts: the features of the blocks, feature by feature; panels: the columns of the weights, filled up with zeros; of the
   gates, those of update, reset and candidate, one behind the other. */
PyObject *core_sequence_logits(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"mean", "scale", "dense_panels", "dense_bias", "input_panels", "input_bias",
                                              "state_panels", "state_bias", "output_panels", "output_bias", "page_weight",
                                              "last_weight", "logits"};
    static const int sizes[ARRAYS] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    PyObject *o[ARRAYS], *parts, *result = NULL;
    Advance step = advance_anywhere;
    float last_bias;
    int fits, failed;
    Task task;
    (void)module;
    memset(&task, 0, sizeof task);
    if (!PyArg_ParseTuple(arguments, "O!fOOOOOOOOOOOOfO", &PyTuple_Type, &parts, &task.clip, &o[MEAN], &o[SCALE],
                          &o[DENSE_PANELS], &o[DENSE_BIAS], &o[INPUT_PANELS], &o[INPUT_BIAS], &o[STATE_PANELS],
                          &o[STATE_BIAS], &o[OUTPUT_PANELS], &o[OUTPUT_BIAS], &o[PAGE_WEIGHT], &o[LAST_WEIGHT], &last_bias,
                          &o[LOGITS])) {
        return NULL;
    }
    if (arrays_borrow(task.arrays, o, sizes, names, ARRAYS, LOGITS) < 0) {
        goto done;
    }
    task.m = task.arrays[LOGITS].length;
    if ((fits = borrow_features(&task, parts)) < 0) {
        goto done;
    }
    if (!fits || !measure(&task)) {
        PyErr_SetString(PyExc_ValueError, "not features and the weights of a network over sequences of blocks");
        goto done;
    }
#if defined(__x86_64__)
    step = core_register_bytes >= 32 ? advance_fused : advance_anywhere;
#endif
    Py_BEGIN_ALLOW_THREADS
    failed = prepare(&task) < 0;
    if (!failed) {
        fill_dense(&task);
        read_blocks(&task, 0, step);
        read_blocks(&task, 1, step);
        fill_of_page(&task);
        fill_logits(&task, last_bias);
    }
    Py_END_ALLOW_THREADS
    result = failed ? PyErr_NoMemory() : Py_NewRef(Py_None);
done:
    release(&task);
    return result;
}
