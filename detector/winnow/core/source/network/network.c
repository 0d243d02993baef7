/* What networks make of their first hidden layers, by the context windows of each block: winnow.models.networks. */
#include "network/products.h"

enum { COLUMNS = 16 }; /* taken together, so that running totals of long pages stay small */
enum { HIDDEN, WEIGHT, BEGIN, END, SCALE, CONTEXT_PANELS, CONTEXT_BIAS, OUTPUT_WEIGHT, LOGITS, ARRAYS };

/* m blocks; p networks of c and d hidden units; the first window of a block is its neighbours, and of the `kinds` others,
   containers that many blocks share, k are different. */
typedef struct {
    Array arrays[ARRAYS];
    Py_ssize_t m, p, c, d, k, kinds, panels;
    int32_t *place;  /* [kinds][m]: number of each block's window */
    int32_t *window; /* k: place of the first of all equal windows in BEGIN, END and SCALE */
    int32_t *met;    /* k: the windows of a kind, in the order they are met */
    double *totals;  /* [m + 1][COLUMNS] */
    float *means;    /* [k][c] */
    float *products; /* [k][d] */
    uint8_t *known;  /* k: whether a window has been met */
    float *layer;    /* [m][d] */
    float *near;     /* [TILE_ROWS][c] */
} Task;

static const float *hidden_of(const Task *task, Py_ssize_t network, Py_ssize_t block)
{
    return ITEMS(task->arrays[HIDDEN], float) + block * task->p * task->c + network * task->c;
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
        products_multiply(rows, 1, task->c, panels + panel * task->c * TILE_COLUMNS, tile);
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

static void work(Task *task, float output_bias)
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

/* Find the sizes out and check them; 0 where they do not fit. There is a block. */
static int measure(Task *task)
{
    const Array *arrays = task->arrays;
    Py_ssize_t windows = arrays[BEGIN].length;
    task->kinds = windows / task->m - 1;
    task->c = task->p > 0 ? arrays[HIDDEN].length / task->m / task->p : 0;
    task->d = task->p > 0 ? arrays[CONTEXT_BIAS].length / task->p : 0;
    task->panels = (task->d + TILE_COLUMNS - 1) / TILE_COLUMNS;
    return task->c > 0 && task->d > 0 && task->c <= 1 << 16 && task->d <= 1 << 16 && task->p <= 1 << 10
           && task->kinds >= 0 && task->kinds < 1 << 10 && windows < INT32_MAX
           && arrays[HIDDEN].length == task->m * task->p * task->c && arrays[CONTEXT_BIAS].length == task->p * task->d
           && arrays[OUTPUT_WEIGHT].length == task->p * task->d && windows == (task->kinds + 1) * task->m
           && arrays[END].length == windows && arrays[SCALE].length == windows
           && arrays[CONTEXT_PANELS].length == task->p * (task->kinds + 2) * task->panels * task->c * TILE_COLUMNS
           && arrays[LOGITS].length == task->m && are_slices(&arrays[BEGIN], &arrays[END], task->m);
}

static int allocate(Task *task)
{
    task->totals = calloc(((size_t)task->m + 1) * COLUMNS, sizeof(double));
    task->means = malloc(sizeof(float) * (size_t)(task->k * task->c) + 1);
    task->products = malloc(sizeof(float) * (size_t)(task->k * task->d) + 1);
    task->known = malloc((size_t)task->k + 1);
    task->layer = malloc(sizeof(float) * (size_t)(task->m * task->d));
    task->near = malloc(sizeof(float) * TILE_ROWS * (size_t)task->c);
    return task->totals == NULL || task->means == NULL || task->products == NULL || task->known == NULL
                   || task->layer == NULL || task->near == NULL
               ? -1
               : 0;
}

/* network_logits(hidden: float32[m, p * c], weight: float32[m], begin: int64[1 + kinds, m], end: int64[1 + kinds, m],
                  scale: float32[1 + kinds, m], context_panels: float32[p, kinds + 2, panels, c, TILE_COLUMNS],
                  context_bias: float32[p * d], output_weight: float32[p * d], output_bias, networks: p, logits: float32[m])

   begin, end, scale: of winnow.features.context.ContextWindows; context_panels: the columns of each weight, filled up with
   zeros. */
PyObject *core_network_logits(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"hidden", "weight", "begin", "end", "scale", "context_panels",
                                              "context_bias", "output_weight", "logits"};
    static const int sizes[ARRAYS] = {4, 4, 8, 8, 4, 4, 4, 4, 4};
    PyObject *o[ARRAYS], *result = NULL;
    float output_bias;
    size_t windows;
    int failed;
    Task task;
    (void)module;
    memset(&task, 0, sizeof task);
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOfnO", &o[HIDDEN], &o[WEIGHT], &o[BEGIN], &o[END], &o[SCALE],
                          &o[CONTEXT_PANELS], &o[CONTEXT_BIAS], &o[OUTPUT_WEIGHT], &output_bias, &task.p, &o[LOGITS])) {
        return NULL;
    }
    if (arrays_borrow(task.arrays, o, sizes, names, ARRAYS, LOGITS) < 0) {
        goto done;
    }
    task.m = task.arrays[WEIGHT].length;
    if (task.m < 1 || !measure(&task)) {
        PyErr_SetString(PyExc_ValueError, "not the layers of a network and the context windows of blocks");
        goto done;
    }
    windows = (size_t)(task.kinds * task.m);
    task.place = malloc(sizeof(int32_t) * 3 * windows + 1);
    if (task.place == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    task.window = task.place + windows;
    task.met = task.window + windows;
    Py_BEGIN_ALLOW_THREADS
    failed = number_windows(&task) < 0 || allocate(&task) < 0;
    if (!failed) {
        work(&task, output_bias);
    }
    Py_END_ALLOW_THREADS
    if (failed) {
        PyErr_NoMemory();
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    free(task.near);
    free(task.layer);
    free(task.known);
    free(task.products);
    free(task.means);
    free(task.totals);
    free(task.place);
    arrays_release(task.arrays, ARRAYS);
    return result;
}
