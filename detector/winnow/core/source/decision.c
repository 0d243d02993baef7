/* The cuts of a page, a row of features for each, and the trees that judge them: winnow.models.decision, whose CUT_NAMES
   names the columns. */
#include <math.h>

#include "page.h"

enum { MAX_CUTS = 64, OWN = 28, OF_GROUP = 5 };

/* Sums over blocks; those of properties, weighted by words, come behind. */
enum { WORDS, CONTENT, LOGITS, BLOCKS, PLACES, SUMS };

static const double MAX_LOGIT = 10, FAR = 99, MOST_OF_WORDS = 0.9;

enum { LOGIT, OF_WORDS, PROPERTIES, LEVELS, OF_PAGE, ROWS, OF_CUT, ARRAYS };

typedef struct {
    PageArrays page;
    Array arrays[ARRAYS];
    Py_ssize_t m, p, width, columns; /* blocks, properties, columns of a row, sums of a step */
    int cuts;
    int level[MAX_CUTS];    /* of each cut */
    uint8_t *step;           /* m: the first cut that keeps a block, `cuts` for none */
    double *clipped, *until; /* m, m + 1: logits, words before each block */
    double *sums, *steps;    /* [cuts + 1][columns]: of what a cut keeps, of what it adds to the one before */
    int32_t *branches;       /* elements that divide the text */
    Py_ssize_t branching;
    double *totals;          /* m + 1: words that a cut keeps before each block */
} Task;

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Find the different cuts, and which is the first to keep each block. */
static void divide(Task *task)
{
    const double *logits = ITEMS(task->arrays[LOGIT], double), *levels = ITEMS(task->arrays[LEVELS], double);
    int count = (int)task->arrays[LEVELS].length, cut_of[MAX_CUTS + 1], l;
    Py_ssize_t number[MAX_CUTS] = {0}, b;
    for (b = 0; b < task->m; b++) {
        for (l = 0; l < count && !(logits[b] < levels[l]); l++) {
        }
        task->step[b] = (uint8_t)l;
        if (l < count) {
            number[l]++;
        }
    }
    for (l = 0; l < count; l++) {
        if (number[l]) {
            task->level[task->cuts] = l;
            cut_of[l] = task->cuts++;
        }
    }
    cut_of[count] = task->cuts;
    for (b = 0; b < task->m; b++) {
        task->step[b] = (uint8_t)(task->step[b] < count ? cut_of[task->step[b]] : task->cuts);
    }
}

static void add_up(Task *task)
{
    const double *logits = ITEMS(task->arrays[LOGIT], double), *words = ITEMS(task->arrays[OF_WORDS], double);
    const float *properties = ITEMS(task->arrays[PROPERTIES], float);
    Py_ssize_t b, k;
    int cut;
    task->until[0] = 0;
    for (b = 0; b < task->m; b++) {
        double *to = task->steps + task->step[b] * task->columns, clipped = clip(logits[b], -MAX_LOGIT, MAX_LOGIT);
        task->clipped[b] = clipped;
        task->until[b + 1] = task->until[b] + words[b];
        to[WORDS] += (float)words[b];
        to[CONTENT] += (float)(words[b] * (1 / (1 + exp(clipped))));
        to[LOGITS] += (float)(words[b] * clipped);
        to[BLOCKS] += 1;
        to[PLACES] += (float)((double)b / (double)task->m);
        for (k = 0; k < task->p; k++) {
            to[SUMS + k] += (float)(words[b] * properties[b * task->p + k]);
        }
    }
    for (cut = 0; cut <= task->cuts; cut++) { /* the last is the whole page */
        for (k = 0; k < task->columns; k++) {
            task->sums[cut * task->columns + k] =
                task->steps[cut * task->columns + k] + (cut ? task->sums[(cut - 1) * task->columns + k] : 0);
        }
    }
}

static void find_branches(Task *task)
{
    const PageArrays *page = &task->page;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        int32_t held = page->block_end[i] - page->block_begin[i], parent = page->parent[i];
        if (!i || (held > 1 && held != page->block_end[parent] - page->block_begin[parent])) {
            task->branches[task->branching++] = (int32_t)i;
        }
    }
}

/* The innermost element that holds most of the words that a cut keeps. */
static int32_t container_of(Task *task, int cut)
{
    const PageArrays *page = &task->page;
    const double *words = ITEMS(task->arrays[OF_WORDS], double);
    Py_ssize_t b, i;
    task->totals[0] = 0;
    for (b = 0; b < task->m; b++) {
        task->totals[b + 1] = task->totals[b] + (task->step[b] <= cut ? words[b] : 0);
    }
    for (i = task->branching - 1; i > 0; i--) {
        int32_t branch = task->branches[i];
        double inside = task->totals[page->block_end[branch]] - task->totals[page->block_begin[branch]];
        if (inside >= MOST_OF_WORDS * task->totals[task->m]) {
            break;
        }
    }
    return task->branches[i];
}

/* What a cut adds to the one before, or leaves to the next; 0 for nothing. */
static void write_group(const Task *task, const double *sums, double words_in, double all_words, float *to)
{
    double mass = larger(sums[WORDS], 1e-6), number = larger(sums[BLOCKS], 1);
    Py_ssize_t k;
    to[0] = (float)(sums[WORDS] / all_words);
    to[1] = (float)(sums[WORDS] / words_in);
    to[2] = (float)(sums[CONTENT] / mass);
    to[3] = (float)(sums[PLACES] / number);
    to[4] = (float)log1p(sums[WORDS] / number);
    for (k = 0; k < task->p; k++) {
        to[OF_GROUP + k] = (float)(sums[SUMS + k] / mass);
    }
}

/* Stretches of blocks that a cut keeps. */
typedef struct {
    Py_ssize_t runs, first, last;
    double longest, highest, lowest; /* words; logits of what is kept, and of what is not */
} Shape;

static Shape shape_of(const Task *task, int cut)
{
    Shape shape = {0, 0, 0, 0, -FAR, FAR};
    Py_ssize_t b, begin = 0;
    for (b = 0; b < task->m; b++) {
        int kept = task->step[b] <= cut;
        if (!kept) {
            shape.lowest = task->clipped[b] < shape.lowest ? task->clipped[b] : shape.lowest;
            continue;
        }
        if (!b || task->step[b - 1] > cut) {
            begin = b;
            shape.first = shape.runs++ ? shape.first : b;
        }
        shape.last = b;
        shape.highest = larger(shape.highest, task->clipped[b]);
        shape.longest = larger(shape.longest, task->until[b + 1] - task->until[begin]);
    }
    return shape;
}

static void write_row(Task *task, int cut, double highest_expected, float *row)
{
    const double *in = task->sums + cut * task->columns, *all = task->sums + task->cuts * task->columns;
    double all_words = all[WORDS], all_content = larger(all[CONTENT], 1e-9), words_in = in[WORDS], m = (double)task->m;
    double expected = 2 * in[CONTENT] / (words_in + all_content);
    Shape shape = shape_of(task, cut);
    int32_t container = container_of(task, cut);
    int32_t begin = task->page.block_begin[container], end = task->page.block_end[container];
    double inside = larger(task->until[end] - task->until[begin], 1e-6);
    double before = task->until[shape.first], behind = task->until[shape.last + 1];
    double own[OWN] = {
        clip(ITEMS(task->arrays[LEVELS], double)[task->level[cut]], -FAR, FAR), log1p(words_in),
        words_in / all_words, in[BLOCKS] / m, expected, expected / highest_expected,
        in[CONTENT] / words_in, in[CONTENT] / all_content, in[LOGITS] / words_in,
        (all[LOGITS] - in[LOGITS]) / larger(all_words - words_in, 1), shape.highest, shape.lowest,
        log1p((double)shape.runs), (double)shape.runs / in[BLOCKS], shape.longest / words_in,
        (double)shape.first / m, (double)shape.last / m, before / all_words, behind / all_words,
        words_in / (behind - before), words_in / in[BLOCKS], words_in / inside < 1 ? words_in / inside : 1,
        in[BLOCKS] / larger(end - begin, 1), inside / all_words, task->page.depth[container],
        log1p(all_words), log1p(m), all_content / all_words,
    };
    const double *steps = task->steps + cut * task->columns;
    Py_ssize_t k;
    for (k = 0; k < OWN; k++) {
        row[k] = (float)own[k];
    }
    row += OWN;
    for (k = 0; k < task->p; k++) {
        row[k] = (float)(in[SUMS + k] / words_in);
    }
    row += task->p;
    write_group(task, steps, words_in, all_words, row);
    row += OF_GROUP + task->p;
    write_group(task, steps + task->columns, words_in, all_words, row);
    row += OF_GROUP + task->p;
    memcpy(row, task->arrays[OF_PAGE].view.buf, sizeof(float) * (size_t)task->arrays[OF_PAGE].length);
}

static void write_rows(Task *task)
{
    const double *all;
    double highest = 0;
    int cut;
    add_up(task);
    find_branches(task);
    all = task->sums + task->cuts * task->columns;
    for (cut = 0; cut < task->cuts; cut++) {
        const double *in = task->sums + cut * task->columns;
        highest = larger(highest, 2 * in[CONTENT] / (in[WORDS] + larger(all[CONTENT], 1e-9)));
    }
    for (cut = 0; cut < task->cuts; cut++) {
        ITEMS(task->arrays[OF_CUT], double)[cut] = ITEMS(task->arrays[LEVELS], double)[task->level[cut]];
        write_row(task, cut, highest, ITEMS(task->arrays[ROWS], float) + cut * task->width);
    }
}

/* 0 where sizes do not fit. */
static int measure(Task *task)
{
    const Array *arrays = task->arrays;
    task->m = task->page.m;
    if (task->m < 1 || arrays[LOGIT].length != task->m || arrays[OF_WORDS].length != task->m
        || arrays[PROPERTIES].length % task->m || arrays[LEVELS].length < 1 || arrays[LEVELS].length > MAX_CUTS
        || arrays[OF_CUT].length != arrays[LEVELS].length) {
        return 0;
    }
    task->p = arrays[PROPERTIES].length / task->m;
    task->columns = SUMS + task->p;
    task->width = OWN + task->p + 2 * (OF_GROUP + task->p) + arrays[OF_PAGE].length;
    return task->p < 1 << 16 && arrays[ROWS].length == task->width * arrays[LEVELS].length;
}

static int task_allocate(Task *task)
{
    size_t m = (size_t)task->m, sums = (size_t)(task->columns * (task->cuts + 1));
    task->clipped = malloc(sizeof(double) * (3 * m + 2));
    task->sums = calloc(2 * sums, sizeof(double));
    task->branches = malloc(sizeof(int32_t) * (size_t)task->page.n);
    if (task->clipped == NULL || task->sums == NULL || task->branches == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    task->until = task->clipped + m;
    task->totals = task->until + m + 1;
    task->steps = task->sums + sums;
    return 0;
}

/* cut_rows(page, logits: float64[m], words: float64[m], properties: float32[m, p], levels: float64[l], of_page: float32[q],
            rows: float32[l, len(CUT_NAMES) + q], logit: float64[l]) -> how many cuts there are, at most l

   The rows end with of_page. Rows and logits of cuts that there are not stay as they are. */
PyObject *core_cut_rows(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"logits", "words", "properties", "levels", "of_page", "rows", "logit"};
    static const int sizes[ARRAYS] = {8, 8, 4, 8, 4, 4, 8};
    PyObject *tuple, *objects[ARRAYS], *result = NULL;
    Task task;
    (void)module;
    memset(&task, 0, sizeof task);
    if (!PyArg_ParseTuple(arguments, "OOOOOOOO", &tuple, &objects[LOGIT], &objects[OF_WORDS], &objects[PROPERTIES],
                          &objects[LEVELS], &objects[OF_PAGE], &objects[ROWS], &objects[OF_CUT])) {
        return NULL;
    }
    if (page_borrow(&task.page, tuple, PY_SSIZE_T_MAX) < 0
        || arrays_borrow(task.arrays, objects, sizes, names, ARRAYS, ROWS) < 0) {
        goto done;
    }
    if (!measure(&task)) {
        PyErr_SetString(PyExc_ValueError, "not what is known of the blocks of a page");
        goto done;
    }
    if ((task.step = malloc((size_t)task.m)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    divide(&task);
    if (task_allocate(&task) < 0) {
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    write_rows(&task);
    Py_END_ALLOW_THREADS
    result = PyLong_FromLong(task.cuts);
done:
    free(task.step);
    free(task.clipped);
    free(task.sums);
    free(task.branches);
    arrays_release(task.arrays, ARRAYS);
    page_release(&task.page);
    return result;
}

/* ---- Boosted trees */

enum { TREE_ROWS, TREE_ROOT, TREE_FEATURE, TREE_THRESHOLD, TREE_CHILD, TREE_VALUE, TREE_SUMS, TREE_ARRAYS };

/* Whether all numbers of nodes and columns lie inside what they are of. */
static int is_sound(const Array *arrays, Py_ssize_t width)
{
    Py_ssize_t s = arrays[TREE_FEATURE].length, i;
    if (width < 1 || arrays[TREE_ROWS].length != width * arrays[TREE_SUMS].length || arrays[TREE_THRESHOLD].length != s
        || arrays[TREE_CHILD].length != 2 * s || arrays[TREE_VALUE].length != s) {
        return 0;
    }
    for (i = 0; i < arrays[TREE_ROOT].length; i++) {
        if (ITEMS(arrays[TREE_ROOT], int32_t)[i] < 0 || ITEMS(arrays[TREE_ROOT], int32_t)[i] >= s) {
            return 0;
        }
    }
    for (i = 0; i < s; i++) {
        if (ITEMS(arrays[TREE_FEATURE], int32_t)[i] < 0 || ITEMS(arrays[TREE_FEATURE], int32_t)[i] >= width) {
            return 0;
        }
    }
    for (i = 0; i < 2 * s; i++) {
        if (ITEMS(arrays[TREE_CHILD], int32_t)[i] < 0 || ITEMS(arrays[TREE_CHILD], int32_t)[i] >= s) {
            return 0;
        }
    }
    return 1;
}

static double sum_of(const Array *arrays, const float *row, int depth)
{
    const int32_t *feature = ITEMS(arrays[TREE_FEATURE], int32_t), *child = ITEMS(arrays[TREE_CHILD], int32_t);
    const float *threshold = ITEMS(arrays[TREE_THRESHOLD], float);
    double sum = 0;
    Py_ssize_t t;
    for (t = 0; t < arrays[TREE_ROOT].length; t++) {
        int32_t node = ITEMS(arrays[TREE_ROOT], int32_t)[t];
        int step;
        for (step = 0; step < depth; step++) {
            node = child[2 * node + (row[feature[node]] > threshold[node])];
        }
        sum += ITEMS(arrays[TREE_VALUE], float)[node];
    }
    return sum;
}

/* predict_trees(rows: float32[k, d], root: int32[t], feature: int32[s], threshold: float32[s], child: int32[s, 2],
                 value: float32[s], depth, width: d, sums: float64[k]) */
PyObject *core_predict_trees(PyObject *module, PyObject *arguments)
{
    static const char *const names[TREE_ARRAYS] = {"rows", "root", "feature", "threshold", "child", "value", "sums"};
    static const int sizes[TREE_ARRAYS] = {4, 4, 4, 4, 4, 4, 8};
    PyObject *objects[TREE_ARRAYS], *result = NULL;
    Array arrays[TREE_ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t width, k;
    int depth;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOinO", &objects[TREE_ROWS], &objects[TREE_ROOT], &objects[TREE_FEATURE], &objects[TREE_THRESHOLD],
                          &objects[TREE_CHILD], &objects[TREE_VALUE], &depth, &width, &objects[TREE_SUMS])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, TREE_ARRAYS, TREE_SUMS) < 0) {
        goto done;
    }
    if (!is_sound(arrays, width)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of trees");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (k = 0; k < arrays[TREE_SUMS].length; k++) {
        ITEMS(arrays[TREE_SUMS], double)[k] = sum_of(arrays, ITEMS(arrays[TREE_ROWS], float) + k * width, depth);
    }
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    arrays_release(arrays, TREE_ARRAYS);
    return result;
}
