/* The rows of the smoother's dynamic program: the double of winnow.smoothing.isotonic.rows, in integers as well. */
#include "smoothing/smoothing.h"

static int64_t *row_of(const Rows *rows, int64_t node)
{
    return rows->cost + rows->row[node] * rows->size;
}

/* A node of one member and without children needs no row: what it costs at each score is known. */
static int is_plain(const Rows *rows, Py_ssize_t node)
{
    return rows->row[node] < 0;
}

/* From a score on, the costs of a node rise by `a`, and by `b` for each unit of score. */
static void turn(const Rows *rows, Py_ssize_t at, int64_t a, int64_t b)
{
    rows->slope[2 * at] += b;
    rows->slope[2 * at + 1] += a;
}

/* What a plain node costs: its distance, below its score its penalty at most. */
static void turn_plain(const Rows *rows, Py_ssize_t node)
{
    int64_t i = rows->member[rows->begin[node]], w = rows->weight[i], at = rows->index[i], x = rows->X[at];
    int64_t penalty = rows->penalty[node], low = 0, high = at;
    while (low < high) { /* the first score that is nearer than the penalty */
        int64_t middle = (low + high) / 2;
        if (w * (x - rows->X[middle]) < penalty) {
            high = middle;
        }
        else {
            low = middle + 1;
        }
    }
    turn(rows, 0, penalty, 0);
    turn(rows, low, w * x - penalty, -w);
    turn(rows, at, -2 * w * x, 2 * w);
}

/* Add the distances of a node's own members to its row, and what its plain children cost. */
static void add_distances(const Rows *rows, Py_ssize_t node)
{
    const int64_t *slope = rows->slope, *X = rows->X;
    int64_t *restrict row = row_of(rows, node), a = 0, b = 0, child;
    Py_ssize_t k, u, size = rows->size;
    if (rows->begin[node] == rows->begin[node + 1] && rows->plain[node] < 0) {
        return;
    }
    memset(rows->slope, 0, sizeof(int64_t) * (size_t)(2 * rows->size));
    for (k = rows->begin[node]; k < rows->begin[node + 1]; k++) {
        int64_t i = rows->member[k], w = rows->weight[i], at = rows->index[i], pull = w * rows->X[at];
        turn(rows, 0, pull, -w);
        turn(rows, at, -2 * pull, 2 * w); /* at its own score a member turns from falling to rising */
    }
    for (child = rows->plain[node]; child >= 0; child = rows->next[child]) {
        turn_plain(rows, child);
    }
    for (u = 0; u < size; u++) {
        b += slope[2 * u];
        a += slope[2 * u + 1];
        row[u] += a + b * X[u];
    }
}

/* Messages go up, values down; returns the optimum. */
static int64_t solve(const Rows *rows)
{
    int64_t optimum = 0;
    Py_ssize_t node, u, size = rows->size;
    for (node = rows->m - 1; node >= 0; node--) {
        const int64_t *row;
        int64_t least = INT64_MAX, penalty = rows->penalty[node], *restrict above;
        if (is_plain(rows, node)) {
            rows->next[node] = rows->plain[rows->parent[node]];
            rows->plain[rows->parent[node]] = node;
            continue;
        }
        add_distances(rows, node);
        if (rows->parent[node] < 0) {
            continue;
        }
        row = row_of(rows, node);
        above = row_of(rows, rows->parent[node]);
        for (u = size - 1; u >= 0; u--) {
            least = row[u] < least ? row[u] : least;
            above[u] += row[u] < least + penalty ? row[u] : least + penalty;
        }
    }
    for (node = 0; node < rows->m; node++) {
        int64_t from = rows->parent[node] < 0 ? rows->lowest[node] : rows->chosen[rows->parent[node]], best = from;
        if (is_plain(rows, node)) {
            int64_t i = rows->member[rows->begin[node]], at = rows->index[i];
            if (from < at && rows->weight[i] * (rows->X[at] - rows->X[from]) > rows->penalty[node]) {
                best = at;
            }
        }
        else {
            const int64_t *row = row_of(rows, node);
            int64_t least = row[from];
            for (u = from + 1; u < size; u++) {
                if (row[u] < least) {
                    least = row[u];
                    best = u;
                }
            }
            if (rows->parent[node] < 0) {
                optimum += least + rows->penalty[node];
            }
            else if (row[from] <= least + rows->penalty[node]) {
                best = from;
            }
        }
        rows->chosen[node] = best;
    }
    return optimum;
}

/* Number the nodes that need rows; returns how many. */
static int64_t number_rows(const Rows *rows)
{
    int64_t number = 0;
    Py_ssize_t node;
    for (node = 0; node < rows->m; node++) { /* nodes without children, first of all */
        rows->row[node] = rows->parent[node] < 0 ? 0 : -1;
        if (rows->parent[node] >= 0) {
            rows->row[rows->parent[node]] = 0;
        }
    }
    for (node = 0; node < rows->m; node++) {
        if (rows->row[node] == 0 || rows->begin[node + 1] - rows->begin[node] != 1) {
            rows->row[node] = number++;
        }
    }
    return number;
}

int rows_solve(Rows *rows, Py_ssize_t cells, int64_t *optimum)
{
    int64_t number, *memory = calloc((size_t)(2 * rows->size + 4 * rows->m + 2 + rows->n), sizeof(int64_t));
    Py_ssize_t i;
    int solved;
    if (memory == NULL) {
        return -1;
    }
    rows->slope = memory;
    rows->begin = rows->slope + 2 * rows->size;
    rows->row = rows->begin + rows->m + 2;
    rows->plain = rows->row + rows->m;
    rows->next = rows->plain + rows->m;
    rows->member = rows->next + rows->m;
    memset(rows->plain, -1, sizeof(int64_t) * (size_t)rows->m);
    for (i = 0; i < rows->n; i++) {
        rows->begin[rows->member_of[i] + 2]++;
    }
    for (i = 2; i < rows->m + 2; i++) {
        rows->begin[i] += rows->begin[i - 1];
    }
    for (i = 0; i < rows->n; i++) {
        rows->member[rows->begin[rows->member_of[i] + 1]++] = i;
    }
    number = number_rows(rows);
    solved = number <= cells / rows->size;
    if (solved && (rows->cost = calloc((size_t)(number * rows->size) + 1, sizeof(int64_t))) == NULL) {
        solved = -1;
    }
    if (solved == 1) {
        *optimum = solve(rows);
        free(rows->cost);
    }
    free(memory);
    return solved;
}

static int is_sound(const Rows *rows)
{
    Py_ssize_t i;
    if (rows->size < 1 || rows->roots > rows->m) {
        return 0;
    }
    for (i = 0; i < rows->m; i++) {
        if (rows->parent[i] < -1 || rows->parent[i] >= i || (rows->parent[i] < 0) != (i < rows->roots)) {
            return 0;
        }
    }
    for (i = 0; i < rows->roots; i++) {
        if (rows->lowest[i] < 0 || rows->lowest[i] >= rows->size) {
            return 0;
        }
    }
    for (i = 0; i < rows->n; i++) {
        if (rows->member_of[i] < 0 || rows->member_of[i] >= rows->m || rows->index[i] < 0
            || rows->index[i] >= rows->size) {
            return 0;
        }
    }
    return 1;
}

/* solve_rows(parent: int64[m], member_of: int64[n], index: int64[n], weight: int64[n], X: int64[size],
              penalty: int64[m], lowest: int64[roots], chosen: int64[m], most_cells) -> optimum, or None
              where it takes more cells than that */
PyObject *core_solve_rows(PyObject *module, PyObject *arguments)
{
    enum { PARENT, MEMBER_OF, INDEX, WEIGHT, SCORES, PENALTY, LOWEST, CHOSEN, ARRAYS };
    static const char *const names[ARRAYS] = {"parent", "member_of", "index", "weight", "X", "penalty", "lowest", "chosen"};
    static const int sizes[ARRAYS] = {8, 8, 8, 8, 8, 8, 8, 8};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Rows rows = {0};
    int64_t optimum = 0;
    Py_ssize_t most;
    int solved;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOn", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7], &most)) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, CHOSEN) < 0) {
        goto done;
    }
    rows.parent = ITEMS(arrays[PARENT], int64_t);
    rows.member_of = ITEMS(arrays[MEMBER_OF], int64_t);
    rows.index = ITEMS(arrays[INDEX], int64_t);
    rows.weight = ITEMS(arrays[WEIGHT], int64_t);
    rows.X = ITEMS(arrays[SCORES], int64_t);
    rows.penalty = ITEMS(arrays[PENALTY], int64_t);
    rows.lowest = ITEMS(arrays[LOWEST], int64_t);
    rows.chosen = ITEMS(arrays[CHOSEN], int64_t);
    rows.m = arrays[PARENT].length;
    rows.n = arrays[MEMBER_OF].length;
    rows.size = arrays[SCORES].length;
    rows.roots = arrays[LOWEST].length;
    if (arrays[INDEX].length != rows.n || arrays[WEIGHT].length != rows.n || arrays[PENALTY].length != rows.m
        || arrays[CHOSEN].length != rows.m || !is_sound(&rows)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of a skeleton");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    solved = rows_solve(&rows, most, &optimum);
    Py_END_ALLOW_THREADS
    if (solved < 0) {
        PyErr_NoMemory();
    }
    else {
        result = solved ? PyLong_FromLongLong(optimum) : Py_NewRef(Py_None);
    }
done:
    arrays_release(arrays, ARRAYS);
    return result;
}
