/* Look-ups and sums over a page's arrays, for tamis.page.tree and tamis.output.spacing. Those that fill an array return it. */
#include "page.h"

/* chosen_ancestors(nodes: int32[k], their parents, chosen: bool[k], outermost) -> `nodes`: of the chosen nodes among each node
                    and its ancestors the nearest, or the outermost one; -1 without one. Parents come before their children. */
PyObject *core_chosen_ancestors(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array nodes = {0}, chosen = {0};
    const uint8_t *is_chosen;
    int32_t i, *to;
    int outermost;
    if (!PyArg_ParseTuple(arguments, "O&O&p", out_4, &nodes, in_1, &chosen, &outermost)
        || !check_arrays(chosen.length == nodes.length && nodes.length <= INT32_MAX)) {
        return NULL;
    }
    is_chosen = ITEMS(chosen, uint8_t);
    to = ITEMS(nodes, int32_t);
    for (i = 0; i < (int32_t)nodes.length; i++) {
        int32_t around = -1;
        if (to[i] != -1) {
            if (to[i] < 0 || to[i] >= i) {
                check_arrays(0);
                return NULL;
            }
            around = to[to[i]];
        }
        to[i] = is_chosen[i] && (around < 0 || !outermost) ? i : around;
    }
    return Py_NewRef(nodes.view.obj);
}

/* text_borders(page, runs: bool[r], around: int32[n], by element) -> list of (run, around the run before it, around itself)
                of those runs where these differ */
PyObject *core_text_borders(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array runs = {0}, around = {0};
    PageArrays page;
    PyObject *found;
    const int32_t *nearest;
    Py_ssize_t run;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_page, &page, in_1, &runs, in_4, &around)
        || !check_arrays(runs.length == page.r && around.length == page.n)) {
        return NULL;
    }
    found = PyList_New(0);
    nearest = ITEMS(around, int32_t);
    for (run = 1; run < page.r && found != NULL; run++) {
        int32_t before = nearest[page.run_node[run - 1]], after = nearest[page.run_node[run]];
        if (ITEMS(runs, uint8_t)[run] && before != after
            && append_item(found, Py_BuildValue("nii", run, before, after)) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

/* mark_subtrees(page, chosen: bool[n]) -> `chosen`, with all that is in chosen elements */
PyObject *core_mark_subtrees(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array chosen = {0};
    PageArrays page;
    uint8_t *begin, *at;
    int32_t inside;
    if (!PyArg_ParseTuple(arguments, "O&O&", in_page, &page, out_1, &chosen)
        || !check_arrays(chosen.length == page.n)) {
        return NULL;
    }
    begin = ITEMS(chosen, uint8_t);
    for (at = begin; (at = memchr(at, 1, (size_t)(begin + page.n - at))) != NULL; at += inside) {
        inside = page.end[at - begin] - (int32_t)(at - begin);
        if (inside > 1) {
            memset(at, 1, (size_t)inside);
        }
    }
    return Py_NewRef(chosen.view.obj);
}

/* mark_runs(page, blocks: bool[m], runs: bool[r], of zeros) -> `runs`, with those of some blocks marked */
PyObject *core_mark_runs(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array blocks = {0}, runs = {0};
    PageArrays page;
    const uint8_t *is_chosen;
    uint8_t *to;
    int32_t b, k;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_page, &page, in_1, &blocks, out_1, &runs)
        || !check_arrays(blocks.length == page.m && runs.length == page.r)) {
        return NULL;
    }
    is_chosen = ITEMS(blocks, uint8_t);
    to = ITEMS(runs, uint8_t);
    for (b = 0; b < (int32_t)page.m; b++) {
        for (k = page.block_run_begin[b]; is_chosen[b] && k < page.block_run_end[b]; k++) {
            to[k] = 1;
        }
    }
    return Py_NewRef(runs.view.obj);
}

/* mark(mask: bool[n], indices: list, int32[k] or int64[k]) -> `mask`, with these true; numbers below 0 count from the end */
PyObject *core_mark(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array mask = {0}, array = {0};
    PyObject *indices;
    Py_ssize_t k;
    int is_list;
    if (!PyArg_ParseTuple(arguments, "O&O", out_1, &mask, &indices)) {
        return NULL;
    }
    is_list = PyList_Check(indices);
    if (!is_list && (!in_any(indices, &array) || !check_arrays(array.view.itemsize == 4 || array.view.itemsize == 8))) {
        return NULL;
    }
    for (k = 0; k < (is_list ? PyList_Size(indices) : array.length); k++) {
        int64_t index = is_list                      ? PyNumber_AsSsize_t(PyList_GetItem(indices, k), NULL)
                        : array.view.itemsize == 4 ? ITEMS(array, int32_t)[k]
                                                     : ITEMS(array, int64_t)[k];
        if (index < 0 && PyErr_Occurred()) {
            return NULL;
        }
        index += index < 0 ? mask.length : 0;
        if (!check_arrays(index >= 0 && index < mask.length)) {
            return NULL;
        }
        ITEMS(mask, uint8_t)[index] = 1;
    }
    return Py_NewRef(mask.view.obj);
}

/* elements_with_tags(page, tags: bool[tags]) -> list */
PyObject *core_elements_with_tags(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array tags = {0};
    PageArrays page;
    PyObject *found;
    const uint8_t *is_wanted;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(arguments, "O&O&", in_page, &page, in_1, &tags) || !check_arrays(tags.length == core_tables.tags)) {
        return NULL;
    }
    is_wanted = ITEMS(tags, uint8_t);
    found = PyList_New(0);
    for (i = 0; i < page.n && found != NULL; i++) {
        if (is_wanted[page.tag[i]] && append_item(found, PyLong_FromSsize_t(i)) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

/* Write running totals of bool, int32 or int64, 0 first; sets a ValueError for others. */
static int add_up(const Array *values, uint64_t *sums)
{
    const uint8_t *flags = ITEMS(*values, uint8_t);
    const int32_t *small = ITEMS(*values, int32_t);
    const uint64_t *large = ITEMS(*values, uint64_t);
    Py_ssize_t i, count = values->length, size = values->view.itemsize;
    uint64_t sum = sums[0] = 0;
    if (!check_arrays(size == 1 || size == 4 || size == 8)) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        sums[i + 1] = sum += size == 1 ? flags[i] : size == 4 ? (uint64_t)small[i] : large[i];
    }
    return 1;
}

/* prefix_sums(values: bool[k], int32[k] or int64[k], sums: int64[k + 1]) -> `sums` */
PyObject *core_prefix_sums(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array values = {0}, sums = {0};
    if (!PyArg_ParseTuple(arguments, "O&O&", in_any, &values, out_8, &sums)
        || !check_arrays(sums.length == values.length + 1) || !add_up(&values, ITEMS(sums, uint64_t))) {
        return NULL;
    }
    return Py_NewRef(sums.view.obj);
}

/* slice_sums(values: bool[k], int32[k] or int64[k], begin: int32[s], end: int32[s], sums: int64[s]) -> `sums` */
PyObject *core_slice_sums(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array values = {0}, begin = {0}, end = {0}, sums = {0};
    SCOPED(free_memory) uint64_t *before = NULL; /* each value */
    const int32_t *first, *last;
    uint64_t *to;
    Py_ssize_t i, count;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&", in_any, &values, in_4, &begin, in_4, &end, out_8, &sums)
        || !check_arrays(begin.length == sums.length && end.length == sums.length
                         && are_slices(ITEMS(begin, int32_t), ITEMS(end, int32_t), sums.length, values.length))) {
        return NULL;
    }
    if ((before = malloc(sizeof *before * (size_t)(values.length + 1))) == NULL) {
        return PyErr_NoMemory();
    }
    if (!add_up(&values, before)) {
        return NULL;
    }
    first = ITEMS(begin, int32_t);
    last = ITEMS(end, int32_t);
    to = ITEMS(sums, uint64_t);
    for (i = 0, count = sums.length; i < count; i++) {
        to[i] = before[last[i]] - before[first[i]];
    }
    return Py_NewRef(sums.view.obj);
}
