/* What the counts of the leaves of a page say of the elements around them, for winnow.counting. */
#include "page.h"

/* spread_frequencies(page, has_ink: bool[r], countable: bool[n + m], leaves: bool[n + m], spread: int64[n + m or more])

   spread: the counts of the leaves are in it, and those of the elements are written there. */
PyObject *core_spread_frequencies(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(page_release) PageArrays page = {0};
    SCOPED(array_release) Array has_ink = {0}, countable = {0}, leaves = {0}, spread = {0};
    SCOPED(free_memory) int64_t *smallest = NULL;
    Py_ssize_t i;
    int32_t k;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&", in_page, &page, in_1, &has_ink, in_1, &countable, in_1, &leaves, out_8,
                          &spread)
        || !check_arrays(has_ink.length == page.r && countable.length == page.n + page.m
                         && leaves.length == page.n + page.m && spread.length >= page.n + page.m)) {
        return NULL;
    }
    if ((smallest = malloc(sizeof *smallest * (size_t)page.n + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < page.n; i++) {
        smallest[i] = ITEMS(leaves, uint8_t)[i] ? ITEMS(spread, int64_t)[i] : INT64_MAX;
    }
    for (i = 0; i < page.m; i++) {
        int64_t count = ITEMS(spread, int64_t)[page.n + i];
        for (k = page.block_run_begin[i]; k < page.block_run_end[i]; k++) {
            if (ITEMS(has_ink, uint8_t)[k] && count < smallest[page.run_node[k]]) {
                smallest[page.run_node[k]] = count;
            }
        }
    }
    for (i = page.n - 1; i >= 0; i--) {
        ITEMS(spread, int64_t)[i] = ITEMS(countable, uint8_t)[i] && smallest[i] < INT64_MAX ? smallest[i] : 0;
        if (i && smallest[i] < smallest[page.parent[i]]) {
            smallest[page.parent[i]] = smallest[i];
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
