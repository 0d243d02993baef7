/* What a network makes of its first hidden layer: the double of winnow.models.blocks.ensemble. */
#include "core.h"

enum { COLUMNS = 16 }; /* taken together, so that running totals of long pages stay small */
enum { UNITS = 32, FEW_UNITS = 4 }; /* summed up together: as many as registers hold, and as one does */

/* Both give the same sums: columns are summed up beside each other, not together. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define WITH_WIDE_REGISTERS __attribute__((target_clones("avx2", "default")))
#else
#define WITH_WIDE_REGISTERS
#endif

enum {
    HIDDEN, WEIGHT, NEAR_BEGIN, NEAR_END, NEAR_SCALE, BEGIN, END, SCALE, PLACE, CONTEXT_WEIGHT, CONTEXT_BIAS, OUTPUT_WEIGHT,
    LOGITS, ARRAYS
};

/* m blocks; p networks of c and d hidden units; k stretches of containers, of which each block has `kinds`. */
typedef struct {
    Array arrays[ARRAYS];
    Py_ssize_t m, p, c, d, k, kinds;
    double *totals;  /* [m + 1][COLUMNS] */
    float *means;    /* [k][c] */
    float *products; /* [k][d] */
    uint8_t *known;  /* k: whether there is a product */
    float *layer;    /* [m][d] */
} Task;

static const float *hidden_of(const Task *task, Py_ssize_t network, Py_ssize_t block)
{
    return ITEMS(task->arrays[HIDDEN], float) + block * task->p * task->c + network * task->c;
}

/* Add float32[c] times the first `count` columns of float32[c, d], whose rows stand `stride` apart; the compiler knows the
   count. */
static inline __attribute__((always_inline)) void add_columns(const float *values, Py_ssize_t c, const float *weight,
                                                              Py_ssize_t stride, int count, float *to)
{
    float sum[UNITS];
    Py_ssize_t i;
    int k;
    memcpy(sum, to, sizeof(float) * (size_t)count);
    for (i = 0; i < c; i++) {
        for (k = 0; k < count; k++) {
            sum[k] += values[i] * weight[i * stride + k];
        }
    }
    memcpy(to, sum, sizeof(float) * (size_t)count);
}

WITH_WIDE_REGISTERS
static void add_product(const float *values, Py_ssize_t c, const float *weight, Py_ssize_t stride, Py_ssize_t d, float *to)
{
    Py_ssize_t column = 0;
    for (; column + UNITS <= d; column += UNITS) {
        add_columns(values, c, weight + column, stride, UNITS, to + column);
    }
    for (; column + FEW_UNITS <= d; column += FEW_UNITS) {
        add_columns(values, c, weight + column, stride, FEW_UNITS, to + column);
    }
    for (; column < d; column++) {
        add_columns(values, c, weight + column, stride, 1, to + column);
    }
}

/* Weighted means of a network's units over the stretches of containers. */
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
            const double *first = task->totals + ITEMS(task->arrays[BEGIN], int64_t)[i] * COLUMNS;
            const double *behind = task->totals + ITEMS(task->arrays[END], int64_t)[i] * COLUMNS;
            float *to = task->means + i * task->c + column;
            double s = ITEMS(task->arrays[SCALE], float)[i];
            for (k = 0; k < count; k++) {
                to[k] = (float)((behind[k] - first[k]) * s);
            }
        }
    }
}

/* The second hidden layer of a block: its own units, and their mean over the blocks near to it. `mean` holds c. */
static void look_near(const Task *task, Py_ssize_t network, Py_ssize_t block, const float *weight, float *mean, float *to)
{
    Py_ssize_t stride = (task->kinds + 2) * task->d, i;
    int64_t at;
    add_product(hidden_of(task, network, block), task->c, weight, stride, task->d, to);
    memset(mean, 0, sizeof(float) * (size_t)task->c);
    for (at = ITEMS(task->arrays[NEAR_BEGIN], int64_t)[block]; at < ITEMS(task->arrays[NEAR_END], int64_t)[block]; at++) {
        const float *values = hidden_of(task, network, at);
        float w = ITEMS(task->arrays[WEIGHT], float)[at] * ITEMS(task->arrays[NEAR_SCALE], float)[block];
        for (i = 0; i < task->c; i++) {
            mean[i] += w * values[i];
        }
    }
    add_product(mean, task->c, weight + task->d, stride, task->d, to);
}

/* Add what a kind of container says to all blocks; containers that several blocks share are worked out once. */
static void look_around(Task *task, Py_ssize_t kind, const float *weight)
{
    const int64_t *place = ITEMS(task->arrays[PLACE], int64_t) + kind * task->m;
    Py_ssize_t block, i;
    memset(task->known, 0, (size_t)task->k);
    memset(task->products, 0, sizeof(float) * (size_t)(task->k * task->d));
    for (block = 0; block < task->m; block++) {
        float *product = task->products + place[block] * task->d, *to = task->layer + block * task->d;
        if (!task->known[place[block]]) {
            add_product(task->means + place[block] * task->c, task->c, weight, (task->kinds + 2) * task->d, task->d, product);
            task->known[place[block]] = 1;
        }
        for (i = 0; i < task->d; i++) {
            to[i] += product[i];
        }
    }
}

static void work(Task *task, float output_bias, float *mean)
{
    Py_ssize_t network, kind, block, i, size = task->c * (task->kinds + 2) * task->d;
    float *logits = ITEMS(task->arrays[LOGITS], float);
    for (block = 0; block < task->m; block++) {
        logits[block] = output_bias;
    }
    for (network = 0; network < task->p; network++) {
        const float *weight = ITEMS(task->arrays[CONTEXT_WEIGHT], float) + network * size;
        const float *bias = ITEMS(task->arrays[CONTEXT_BIAS], float) + network * task->d;
        const float *output = ITEMS(task->arrays[OUTPUT_WEIGHT], float) + network * task->d;
        for (block = 0; block < task->m; block++) {
            memcpy(task->layer + block * task->d, bias, sizeof(float) * (size_t)task->d);
            look_near(task, network, block, weight, mean, task->layer + block * task->d);
        }
        pool(task, network);
        for (kind = 0; kind < task->kinds; kind++) {
            look_around(task, kind, weight + (kind + 2) * task->d);
        }
        for (block = 0; block < task->m; block++) {
            const float *from = task->layer + block * task->d;
            for (i = 0; i < task->d; i++) {
                logits[block] += from[i] > 0 ? from[i] * output[i] : 0;
            }
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

/* Find the sizes out and check them; 0 where they do not fit. There is a block. */
static int measure(Task *task)
{
    const Array *arrays = task->arrays;
    Py_ssize_t i;
    task->k = arrays[BEGIN].length;
    task->kinds = arrays[PLACE].length / task->m;
    task->c = task->p > 0 ? arrays[HIDDEN].length / task->m / task->p : 0;
    task->d = task->p > 0 ? arrays[CONTEXT_BIAS].length / task->p : 0;
    if (task->c < 1 || task->d < 1 || task->c > 1 << 16 || task->d > 1 << 16 || task->p > 1 << 10
        || arrays[HIDDEN].length != task->m * task->p * task->c || arrays[CONTEXT_BIAS].length != task->p * task->d
        || arrays[OUTPUT_WEIGHT].length != task->p * task->d || arrays[PLACE].length != task->kinds * task->m
        || task->kinds > 1 << 10
        || arrays[CONTEXT_WEIGHT].length != task->p * task->c * (task->kinds + 2) * task->d
        || arrays[NEAR_BEGIN].length != task->m || arrays[NEAR_END].length != task->m
        || arrays[NEAR_SCALE].length != task->m || arrays[END].length != task->k || arrays[SCALE].length != task->k
        || arrays[LOGITS].length != task->m || !are_slices(&arrays[NEAR_BEGIN], &arrays[NEAR_END], task->m)
        || !are_slices(&arrays[BEGIN], &arrays[END], task->m)) {
        return 0;
    }
    for (i = 0; i < arrays[PLACE].length; i++) {
        if (ITEMS(arrays[PLACE], int64_t)[i] < 0 || ITEMS(arrays[PLACE], int64_t)[i] >= task->k) {
            return 0;
        }
    }
    return 1;
}

/* network_logits(hidden: float32[m, p * c], weight: float32[m], near: begin: int64[m], end: int64[m], scale: float32[m],
                  containers: begin: int64[k], end: int64[k], scale: float32[k], place: int64[kinds, m],
                  context_weight: float32[p, c, (kinds + 2) * d], context_bias: float32[p * d],
                  output_weight: float32[p * d], output_bias, networks: p, logits: float32[m]) */
PyObject *core_network_logits(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"hidden", "weight", "near begin", "near end", "near scale", "begin", "end",
                                              "scale", "place", "context_weight", "context_bias", "output_weight", "logits"};
    static const int sizes[ARRAYS] = {4, 4, 8, 8, 4, 8, 8, 4, 8, 4, 4, 4, 4};
    PyObject *o[ARRAYS], *result = NULL;
    float output_bias, *mean = NULL;
    Task task;
    (void)module;
    memset(&task, 0, sizeof task);
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOOOOOfnO", &o[HIDDEN], &o[WEIGHT], &o[NEAR_BEGIN], &o[NEAR_END],
                          &o[NEAR_SCALE], &o[BEGIN], &o[END], &o[SCALE], &o[PLACE], &o[CONTEXT_WEIGHT], &o[CONTEXT_BIAS],
                          &o[OUTPUT_WEIGHT], &output_bias, &task.p, &o[LOGITS])) {
        return NULL;
    }
    if (arrays_borrow(task.arrays, o, sizes, names, ARRAYS, LOGITS) < 0) {
        goto done;
    }
    task.m = task.arrays[WEIGHT].length;
    if (task.m < 1 || !measure(&task)) {
        PyErr_SetString(PyExc_ValueError, "not the layers of a network and the surroundings of blocks");
        goto done;
    }
    task.totals = calloc(((size_t)task.m + 1) * COLUMNS, sizeof(double));
    task.means = malloc(sizeof(float) * (size_t)(task.k * task.c) + 1);
    task.products = malloc(sizeof(float) * (size_t)(task.k * task.d) + 1);
    task.known = malloc((size_t)task.k + 1);
    task.layer = malloc(sizeof(float) * (size_t)(task.m * task.d));
    mean = malloc(sizeof(float) * (size_t)task.c);
    if (task.totals == NULL || task.means == NULL || task.products == NULL || task.known == NULL || task.layer == NULL
        || mean == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    work(&task, output_bias, mean);
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    free(mean);
    free(task.layer);
    free(task.known);
    free(task.products);
    free(task.means);
    free(task.totals);
    arrays_release(task.arrays, ARRAYS);
    return result;
}
