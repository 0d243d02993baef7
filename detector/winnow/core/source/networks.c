/* Networks over the features of text blocks: the first hidden layers, and the logits by the context windows of each block, for
   winnow.models.networks. */
#include "core.h"

/* ---- Products of a few rows and a panel of a matrix, summed up in registers: for registers of any width, and for those of
   x86-64 processors since 2013 and 2017. Each sum has a variable of its own, which compilers keep in a register; those of
   an array they write back every time. */

enum { TILE = TILE_ROWS * TILE_COLUMNS };

/* Write some numbers less a mean, times a scale, between -most and most. */
static void standardise(const float *restrict from, Py_ssize_t count, float mean, float scale, float most, float *restrict to)
{
    Py_ssize_t i;
    for (i = 0; i < count; i++) {
        float value = (from[i] - mean) * scale;
        value = value > -most ? value : -most;
        to[i] = value < most ? value : most;
    }
}

/* Write some sums with as many numbers, and 0 for those below it. */
static void rectify(const float *restrict from, const float *restrict bias, Py_ssize_t count, float *restrict to)
{
    Py_ssize_t i;
    for (i = 0; i < count; i++) {
        float value = from[i] + bias[i];
        to[i] = value > 0 ? value : 0;
    }
}

#define EACH_OF_FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_ROW(DO) EACH_OF_FOUR(DO) DO(4) DO(5) DO(6) DO(7)
#define BEGIN(row) const float *at##row = rows[row];

typedef float Four __attribute__((vector_size(16)));

/* A quarter of the tile: four rows and eight columns. */
static void multiply_quarter(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile)
{
#define CLEAR(row) Four left##row = {0}, right##row = {0};
#define ADD(row) \
    left##row += at##row[i * step] * left; \
    right##row += at##row[i * step] * right;
#define STORE(row) \
    memcpy(tile + row * TILE_COLUMNS, &left##row, sizeof(Four)); \
    memcpy(tile + row * TILE_COLUMNS + 4, &right##row, sizeof(Four));
    Py_ssize_t i;
    EACH_OF_FOUR(BEGIN)
    EACH_OF_FOUR(CLEAR)
    for (i = 0; i < k; i++, panel += TILE_COLUMNS) {
        Four left, right;
        memcpy(&left, panel, sizeof left);
        memcpy(&right, panel + 4, sizeof right);
        EACH_OF_FOUR(ADD)
    }
    EACH_OF_FOUR(STORE)
#undef CLEAR
#undef ADD
#undef STORE
}

static void multiply_anywhere(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile)
{
    int row, column;
    for (row = 0; row < TILE_ROWS; row += 4) {
        for (column = 0; column < TILE_COLUMNS; column += 8) {
            multiply_quarter(rows + row, step, k, panel + column, tile + row * TILE_COLUMNS + column);
        }
    }
}

/* The fastest way on this machine. Its sums differ from those of others in their last bits. */
Multiply core_multiply = multiply_anywhere;
int core_register_bytes = 16;

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void multiply_half_fused(const float *const *rows, Py_ssize_t step,
                                                                    Py_ssize_t k, const float *panel, float *tile)
{
#define CLEAR(row) __m256 left##row = _mm256_setzero_ps(), right##row = _mm256_setzero_ps();
#define ADD(row) \
    value = _mm256_broadcast_ss(at##row + i * step); \
    left##row = _mm256_fmadd_ps(value, left, left##row); \
    right##row = _mm256_fmadd_ps(value, right, right##row);
#define STORE(row) \
    _mm256_storeu_ps(tile + row * TILE_COLUMNS, left##row); \
    _mm256_storeu_ps(tile + row * TILE_COLUMNS + 8, right##row);
    Py_ssize_t i;
    EACH_OF_FOUR(BEGIN)
    EACH_OF_FOUR(CLEAR)
    for (i = 0; i < k; i++, panel += TILE_COLUMNS) {
        __m256 left = _mm256_loadu_ps(panel), right = _mm256_loadu_ps(panel + 8), value;
        EACH_OF_FOUR(ADD)
    }
    EACH_OF_FOUR(STORE)
#undef CLEAR
#undef ADD
#undef STORE
}

static void multiply_fused(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile)
{
    multiply_half_fused(rows, step, k, panel, tile);
    multiply_half_fused(rows + TILE_ROWS / 2, step, k, panel, tile + TILE / 2);
}

__attribute__((target("avx512f"))) static void multiply_wide(const float *const *rows, Py_ssize_t step, Py_ssize_t k,
                                                             const float *panel, float *tile)
{
#define CLEAR(row) __m512 sum##row = _mm512_setzero_ps();
#define ADD(row) sum##row = _mm512_fmadd_ps(_mm512_set1_ps(at##row[i * step]), items, sum##row);
#define STORE(row) _mm512_storeu_ps(tile + row * TILE_COLUMNS, sum##row);
    Py_ssize_t i;
    EACH_ROW(BEGIN)
    EACH_ROW(CLEAR)
    for (i = 0; i < k; i++, panel += TILE_COLUMNS) {
        __m512 items = _mm512_loadu_ps(panel);
        EACH_ROW(ADD)
    }
    EACH_ROW(STORE)
#undef CLEAR
#undef ADD
#undef STORE
}

static int limit_registers(int most)
{
    __builtin_cpu_init();
    if (most >= 64 && __builtin_cpu_supports("avx512f")) {
        core_multiply = multiply_wide;
        return core_register_bytes = 64;
    }
    if (most >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        core_multiply = multiply_fused;
        return core_register_bytes = 32;
    }
    core_multiply = multiply_anywhere;
    return core_register_bytes = 16;
}
#else
static int limit_registers(int most)
{
    (void)most;
    return 16;
}
#endif

void core_prepare_products(void)
{
    limit_registers(64);
}

PyObject *core_limit_registers(PyObject *module, PyObject *arguments)
{
    int most;
    (void)module;
    return PyArg_ParseTuple(arguments, "i", &most) ? PyLong_FromLong(limit_registers(most)) : NULL;
}

enum { MAX_PARTS = 4, MAX_UNITS = 1 << 16 };
enum { STRIP = 2 * TILE_ROWS }; /* blocks that are standardised together: those of a cache line */
enum { COLUMNS = 16 };          /* pooled together, so that running totals of long pages stay small */
enum {
    MEAN, FEATURE_SCALE, BLOCK_PANELS, BLOCK_BIAS, WEIGHT, BEGIN, END, SCALE, CONTEXT_PANELS, CONTEXT_BIAS, OUTPUT_WEIGHT,
    LOGITS, ARRAYS
};

/* m blocks of f features; p networks of c and d hidden units; the first window of a block is its neighbours, and of the
   `kinds` others, containers that many blocks share, k are different. */
typedef struct {
    Array parts[MAX_PARTS], arrays[ARRAYS];
    int count; /* of parts of the features */
    float clip;
    Py_ssize_t m, f, p, c, d, k, kinds, panels;
    int32_t *place;  /* [kinds][m]: number of each block's window */
    int32_t *window; /* k: place of the first of all equal windows in BEGIN, END and SCALE */
    int32_t *met;    /* k: the windows of a kind, in the order they are met */
    float *packed;   /* [f][STRIP] */
    float *hidden;   /* [m][p * c] */
    double *totals;  /* [m + 1][COLUMNS] */
    float *means;    /* [k][c] */
    float *products; /* [k][d] */
    uint8_t *known;  /* k: whether a window has been met */
    float *layer;    /* [m][d] */
    float *near;     /* [TILE_ROWS][c] */
} Task;

/* ---- The first hidden layer: features standardised, weighted and rectified */

/* Gather the standardised features of the blocks from `begin` on; what lies behind the last nobody reads. */
static void pack(const Task *task, Py_ssize_t begin, Py_ssize_t rows)
{
    const float *mean = ITEMS(task->arrays[MEAN], float), *scale = ITEMS(task->arrays[FEATURE_SCALE], float);
    float *to = task->packed;
    int part;
    for (part = 0; part < task->count; part++) {
        const float *from = ITEMS(task->parts[part], float) + begin;
        Py_ssize_t features = task->parts[part].length / task->m;
        for (; features > 0; features--, from += task->m, to += STRIP, mean++, scale++) {
            standardise(from, rows, *mean, *scale, task->clip, to);
        }
    }
}

/* What some rows of packed features make of a panel's units. */
static void fill_tile(const Task *task, const float *packed, Py_ssize_t begin, Py_ssize_t rows, Py_ssize_t panel)
{
    const float *of_row[TILE_ROWS], *bias = ITEMS(task->arrays[BLOCK_BIAS], float) + panel * TILE_COLUMNS;
    const float *weight = ITEMS(task->arrays[BLOCK_PANELS], float) + panel * task->f * TILE_COLUMNS;
    Py_ssize_t row, width = task->p * task->c, columns = width - panel * TILE_COLUMNS;
    float *hidden = task->hidden + begin * width + panel * TILE_COLUMNS, tile[TILE];
    columns = columns < TILE_COLUMNS ? columns : TILE_COLUMNS;
    for (row = 0; row < TILE_ROWS; row++) {
        of_row[row] = packed + row;
    }
    core_multiply(of_row, STRIP, task->f, weight, tile);
    for (row = 0; row < rows && row < TILE_ROWS; row++) {
        rectify(tile + row * TILE_COLUMNS, bias, columns, hidden + row * width);
    }
}

static void fill_hidden(const Task *task)
{
    Py_ssize_t begin, panel, row, panels = (task->p * task->c + TILE_COLUMNS - 1) / TILE_COLUMNS;
    for (begin = 0; begin < task->m; begin += STRIP) {
        Py_ssize_t rows = task->m - begin < STRIP ? task->m - begin : STRIP;
        pack(task, begin, rows);
        for (panel = 0; panel < panels; panel++) {
            for (row = 0; row < rows; row += TILE_ROWS) {
                fill_tile(task, task->packed + row, begin + row, rows - row, panel);
            }
        }
    }
}

/* ---- The second hidden layer, and the logits */

static const float *hidden_of(const Task *task, Py_ssize_t network, Py_ssize_t block)
{
    return task->hidden + block * task->p * task->c + network * task->c;
}

/* Add some numbers, weighted, to as many; nothing else lies there, so that a few are added at once. */
static inline void add(float *restrict to, const float *restrict from, float weight, Py_ssize_t count)
{
    Py_ssize_t i;
    for (i = 0; i < count; i++) {
        to[i] += weight * from[i];
    }
}

/* Add the products of a few rows of c values and of a weight, in panels, to as many rows of d values. */
static void add_products(const Task *task, const float **rows, int count, const float *panels, float *const *to)
{
    float tile[TILE];
    Py_ssize_t panel;
    int row;
    for (row = count; row < TILE_ROWS; row++) {
        rows[row] = rows[0]; /* whose product nobody reads */
    }
    for (panel = 0; panel < task->panels; panel++) {
        Py_ssize_t first = panel * TILE_COLUMNS, columns = task->d - first;
        columns = columns < TILE_COLUMNS ? columns : TILE_COLUMNS;
        core_multiply(rows, 1, task->c, panels + panel * task->c * TILE_COLUMNS, tile);
        for (row = 0; row < count; row++) {
            add(to[row] + first, tile + row * TILE_COLUMNS, 1, columns);
        }
    }
}

/* Number the windows other than the first ones, equal ones alike; 0, or -1 without memory. */
static int number_windows(Task *task)
{
    const int64_t *begin = ITEMS(task->arrays[BEGIN], int64_t), *end = ITEMS(task->arrays[END], int64_t);
    Py_ssize_t m = task->m, windows = (task->kinds + 1) * m, i;
    int32_t *first = malloc(sizeof(int32_t) * (size_t)(windows + m + 1)), *next, number; /* of those of one begin */
    if (first == NULL) {
        return -1;
    }
    next = first + m + 1;
    memset(first, -1, sizeof(int32_t) * (size_t)(m + 1));
    for (i = m; i < windows; i++) {
        for (number = first[begin[i]]; number >= 0 && end[task->window[number]] != end[i]; number = next[number]) {
        }
        if (number < 0) {
            number = (int32_t)task->k++;
            task->window[number] = (int32_t)i;
            next[number] = first[begin[i]];
            first[begin[i]] = number;
        }
        task->place[i - m] = number;
    }
    free(first);
    return 0;
}

/* Weighted means of a network's units over the windows of containers. */
static void pool(Task *task, Py_ssize_t network)
{
    Py_ssize_t column, i;
    int k;
    for (column = 0; column < task->c; column += COLUMNS) {
        int count = task->c - column < COLUMNS ? (int)(task->c - column) : COLUMNS;
        for (i = 0; i < task->m; i++) {
            const float *from = hidden_of(task, network, i) + column;
            const double *before = task->totals + i * COLUMNS;
            double *after = task->totals + (i + 1) * COLUMNS, w = ITEMS(task->arrays[WEIGHT], float)[i];
            for (k = 0; k < count; k++) {
                after[k] = before[k] + w * from[k];
            }
        }
        for (i = 0; i < task->k; i++) {
            int32_t window = task->window[i];
            const double *first = task->totals + ITEMS(task->arrays[BEGIN], int64_t)[window] * COLUMNS;
            const double *behind = task->totals + ITEMS(task->arrays[END], int64_t)[window] * COLUMNS;
            float *to = task->means + i * task->c + column;
            double s = ITEMS(task->arrays[SCALE], float)[window];
            for (k = 0; k < count; k++) {
                to[k] = (float)((behind[k] - first[k]) * s);
            }
        }
    }
}

/* Mean of a network's units over the blocks near to one. */
static void mean_near(const Task *task, Py_ssize_t network, Py_ssize_t block, float *mean)
{
    int64_t at = ITEMS(task->arrays[BEGIN], int64_t)[block], end = ITEMS(task->arrays[END], int64_t)[block];
    float scale = ITEMS(task->arrays[SCALE], float)[block];
    memset(mean, 0, sizeof(float) * (size_t)task->c);
    for (; at < end; at++) {
        add(mean, hidden_of(task, network, at), ITEMS(task->arrays[WEIGHT], float)[at] * scale, task->c);
    }
}

/* Add what the units of blocks themselves, and of those near to them, say. */
static void look_near(Task *task, Py_ssize_t network, const float *weight)
{
    Py_ssize_t block, size = task->panels * task->c * TILE_COLUMNS;
    for (block = 0; block < task->m; block += TILE_ROWS) {
        const float *own[TILE_ROWS], *near[TILE_ROWS];
        float *to[TILE_ROWS];
        int count = 0;
        for (; count < TILE_ROWS && block + count < task->m; count++) {
            own[count] = hidden_of(task, network, block + count);
            near[count] = task->near + count * task->c;
            mean_near(task, network, block + count, task->near + count * task->c);
            to[count] = task->layer + (block + count) * task->d;
        }
        add_products(task, own, count, weight, to);
        add_products(task, near, count, weight + size, to);
    }
}

/* Add what a kind of container says to all blocks; containers that several blocks share are worked out once. */
static void look_wide(Task *task, Py_ssize_t kind, const float *weight)
{
    const int32_t *place = task->place + kind * task->m;
    Py_ssize_t block, i, met = 0;
    memset(task->known, 0, (size_t)task->k);
    for (block = 0; block < task->m; block++) {
        if (!task->known[place[block]]) {
            task->known[place[block]] = 1;
            task->met[met++] = place[block];
        }
    }
    for (i = 0; i < met; i += TILE_ROWS) {
        const float *rows[TILE_ROWS];
        float *to[TILE_ROWS];
        int count = 0;
        for (; count < TILE_ROWS && i + count < met; count++) {
            rows[count] = task->means + task->met[i + count] * task->c;
            to[count] = task->products + task->met[i + count] * task->d;
            memset(to[count], 0, sizeof(float) * (size_t)task->d);
        }
        add_products(task, rows, count, weight, to);
    }
    for (block = 0; block < task->m; block++) {
        add(task->layer + block * task->d, task->products + place[block] * task->d, 1, task->d);
    }
}

/* What the second hidden layer of a block adds to its logit. */
static float output_of(const float *layer, const float *weight, Py_ssize_t d)
{
    float sums[8] = {0}; /* that need not wait for each other */
    Py_ssize_t i;
    int k;
    for (i = 0; i + 8 <= d; i += 8) {
        for (k = 0; k < 8; k++) {
            sums[k] += (layer[i + k] > 0 ? layer[i + k] : 0) * weight[i + k];
        }
    }
    for (k = 0; i + k < d; k++) {
        sums[k] += (layer[i + k] > 0 ? layer[i + k] : 0) * weight[i + k];
    }
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

static void add_logits(Task *task, float output_bias)
{
    Py_ssize_t network, kind, block, size = task->panels * task->c * TILE_COLUMNS;
    float *logits = ITEMS(task->arrays[LOGITS], float);
    for (block = 0; block < task->m; block++) {
        logits[block] = output_bias;
    }
    for (network = 0; network < task->p; network++) {
        const float *weight = ITEMS(task->arrays[CONTEXT_PANELS], float) + network * (task->kinds + 2) * size;
        const float *bias = ITEMS(task->arrays[CONTEXT_BIAS], float) + network * task->d;
        const float *output = ITEMS(task->arrays[OUTPUT_WEIGHT], float) + network * task->d;
        for (block = 0; block < task->m; block++) {
            memcpy(task->layer + block * task->d, bias, sizeof(float) * (size_t)task->d);
        }
        look_near(task, network, weight);
        pool(task, network);
        for (kind = 0; kind < task->kinds; kind++) {
            look_wide(task, kind, weight + (kind + 2) * size);
        }
        for (block = 0; block < task->m; block++) {
            logits[block] += output_of(task->layer + block * task->d, output, task->d);
        }
    }
}

static int are_slices(const Array *begin, const Array *end, Py_ssize_t below)
{
    Py_ssize_t i;
    for (i = 0; i < begin->length; i++) {
        int64_t from = ITEMS(*begin, int64_t)[i], to = ITEMS(*end, int64_t)[i];
        if (from < 0 || to < from || to > below) {
            return 0;
        }
    }
    return 1;
}

/* Borrow the parts of the features; 1, 0 where they do not fit, -1 with an exception set. */
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

/* Find the sizes out and check them; 0 where they do not fit. */
static int measure(Task *task)
{
    const Array *arrays = task->arrays;
    Py_ssize_t windows = arrays[BEGIN].length, width = arrays[BLOCK_BIAS].length;
    if (task->p < 1 || width > MAX_UNITS || arrays[CONTEXT_BIAS].length > MAX_UNITS || task->f > 1 << 20) {
        return 0;
    }
    task->kinds = windows / task->m - 1;
    task->c = width / task->p;
    task->d = arrays[CONTEXT_BIAS].length / task->p;
    task->panels = (task->d + TILE_COLUMNS - 1) / TILE_COLUMNS;
    return task->c > 0 && task->d > 0 && width == task->p * task->c && arrays[MEAN].length == task->f
           && arrays[FEATURE_SCALE].length == task->f
           && arrays[BLOCK_PANELS].length == (width + TILE_COLUMNS - 1) / TILE_COLUMNS * task->f * TILE_COLUMNS
           && task->kinds >= 0 && task->kinds < 1 << 10 && windows < INT32_MAX
           && arrays[CONTEXT_BIAS].length == task->p * task->d && arrays[OUTPUT_WEIGHT].length == task->p * task->d
           && windows == (task->kinds + 1) * task->m && arrays[END].length == windows && arrays[SCALE].length == windows
           && arrays[CONTEXT_PANELS].length == task->p * (task->kinds + 2) * task->panels * task->c * TILE_COLUMNS
           && arrays[LOGITS].length == task->m && are_slices(&arrays[BEGIN], &arrays[END], task->m);
}

/* 0, or -1 without memory. */
static int prepare(Task *task)
{
    size_t windows = (size_t)(task->kinds * task->m);
    if ((task->place = malloc(sizeof(int32_t) * 3 * windows + 1)) == NULL) {
        return -1;
    }
    task->window = task->place + windows;
    task->met = task->window + windows;
    if (number_windows(task) < 0) {
        return -1;
    }
    task->packed = calloc((size_t)(task->f * STRIP) + 1, sizeof(float));
    task->hidden = malloc(sizeof(float) * (size_t)(task->m * task->p * task->c));
    task->totals = calloc(((size_t)task->m + 1) * COLUMNS, sizeof(double));
    task->means = malloc(sizeof(float) * (size_t)(task->k * task->c) + 1);
    task->products = malloc(sizeof(float) * (size_t)(task->k * task->d) + 1);
    task->known = malloc((size_t)task->k + 1);
    task->layer = malloc(sizeof(float) * (size_t)(task->m * task->d));
    task->near = malloc(sizeof(float) * TILE_ROWS * (size_t)task->c);
    return task->packed && task->hidden && task->totals && task->means && task->products && task->known && task->layer
                   && task->near
               ? 0
               : -1;
}

static void release(Task *task)
{
    free(task->near);
    free(task->layer);
    free(task->known);
    free(task->products);
    free(task->means);
    free(task->totals);
    free(task->hidden);
    free(task->packed);
    free(task->place);
    arrays_release(task->parts, task->count);
    arrays_release(task->arrays, ARRAYS);
}

/* network_logits(parts: tuple of float32[..., m], clip, mean: float32[f], scale: float32[f],
                  block_panels: float32[panels, f, TILE_COLUMNS], block_bias: float32[p * c],
                  weight: float32[m], begin: int64[1 + kinds, m], end: int64[1 + kinds, m], scale: float32[1 + kinds, m],
                  context_panels: float32[p, kinds + 2, panels, c, TILE_COLUMNS], context_bias: float32[p * d],
                  output_weight: float32[p * d], output_bias, networks: p, logits: float32[m])

   parts: the features of the blocks, feature by feature; weight, begin, end, scale: winnow.features.context.ContextWindows;
   panels: the columns of the weights, filled up with zeros. */
PyObject *core_network_logits(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"mean", "scale", "block_panels", "block_bias", "weight", "begin", "end",
                                              "scale", "context_panels", "context_bias", "output_weight", "logits"};
    static const int sizes[ARRAYS] = {4, 4, 4, 4, 4, 8, 8, 4, 4, 4, 4, 4};
    PyObject *o[ARRAYS], *parts, *result = NULL;
    float output_bias;
    int fits, failed;
    Task task;
    (void)module;
    memset(&task, 0, sizeof task);
    if (!PyArg_ParseTuple(arguments, "O!fOOOOOOOOOOOfnO", &PyTuple_Type, &parts, &task.clip, &o[MEAN], &o[FEATURE_SCALE],
                          &o[BLOCK_PANELS], &o[BLOCK_BIAS], &o[WEIGHT], &o[BEGIN], &o[END], &o[SCALE],
                          &o[CONTEXT_PANELS], &o[CONTEXT_BIAS], &o[OUTPUT_WEIGHT], &output_bias, &task.p, &o[LOGITS])) {
        return NULL;
    }
    if (arrays_borrow(task.arrays, o, sizes, names, ARRAYS, LOGITS) < 0) {
        goto done;
    }
    task.m = task.arrays[WEIGHT].length;
    if ((fits = borrow_features(&task, parts)) < 0) {
        goto done;
    }
    if (!fits || !measure(&task)) {
        PyErr_SetString(PyExc_ValueError, "not features, the weights of networks and the context windows of blocks");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    failed = prepare(&task) < 0;
    if (!failed) {
        fill_hidden(&task);
        add_logits(&task, output_bias);
    }
    Py_END_ALLOW_THREADS
    result = failed ? PyErr_NoMemory() : Py_NewRef(Py_None);
done:
    release(&task);
    return result;
}
