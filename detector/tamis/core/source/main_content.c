/* Which cut blocks belong to the main content that is kept, for tamis.evidence.main_content. */
#include "page.h"

enum { MAX_DISTANCE = 3 }; /* blocks before and after a table, one of which must be kept on each side */
#define MAX_SCORE 0.8            /* templateness below which code, and a table (mean over its blocks), is kept */
#define MAIN_FRACTION 0.9        /* of the kept text, in the element of the main content */

/* Mark the blocks of a table that has kept blocks or lies between some, if it is not surely template. */
static void mark_table(const PageArrays *page, int32_t table, const uint8_t *kept, const double *scores, uint8_t *found)
{
    Py_ssize_t begin = page->block_begin[table], end = page->block_end[table], i;
    int before = 0, inside = 0, after = 0;
    double sum = 0;
    for (i = begin > MAX_DISTANCE ? begin - MAX_DISTANCE : 0; i < page->m && i < end + MAX_DISTANCE; i++) {
        *(i < begin ? &before : i < end ? &inside : &after) |= kept[i];
        sum += i >= begin && i < end ? scores[i] : 0;
    }
    for (i = begin; i < end && (inside || (before && after)) && sum < MAX_SCORE * (double)(end - begin); i++) {
        found[i] = !kept[i];
    }
}

/* The innermost element with more than one block that holds most of the kept text; the root if none does. */
static int32_t main_element(const PageArrays *page, const uint64_t *characters)
{
    double least = MAIN_FRACTION * (double)(characters[page->block_end[0]] - characters[page->block_begin[0]]);
    int32_t i = (int32_t)page->n;
    while (--i > 0 && (page->block_end[i] - page->block_begin[i] < 2
                       || (double)(characters[page->block_end[i]] - characters[page->block_begin[i]]) < least)) {
    }
    return i;
}

/* parts_of_main_content(page, tables: int32[t], lengths: int64[m], kept: bool[m],
                         scores: float64[m], found: bool[m])

   Sets true, in zeros, for the cut blocks of data tables that contain kept blocks or lie between some, of headlines before
   kept text, and of code after it, the latter two in the innermost element that holds most of the kept text. */
PyObject *core_parts_of_main_content(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array tables = {0}, lengths = {0}, kept = {0}, scores = {0}, found = {0};
    SCOPED(free_memory) uint64_t *characters = NULL; /* that are kept before each block */
    SCOPED(free_memory) uint32_t *around = NULL;     /* sets of each element, and of those around it */
    Py_ssize_t i, first, last = -1;                  /* kept blocks */
    int32_t main = -1;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&", in_page, &page, in_4, &tables, in_8, &lengths, in_1,
                          &kept, in_8, &scores, out_1, &found)
        || !check_arrays(are_below(&tables, page.n) && lengths.length == page.m
                         && kept.length == page.m && scores.length == page.m && found.length == page.m)) {
        return NULL;
    }
    characters = calloc((size_t)page.m + 1, sizeof *characters);
    around = malloc(sizeof *around * (size_t)page.n + 1);
    if (characters == NULL || around == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0, first = page.m; i < page.m; i++) {
        int is_kept = ITEMS(kept, uint8_t)[i];
        characters[i + 1] = characters[i] + (is_kept ? ITEMS(lengths, uint64_t)[i] : 0);
        first = is_kept && last < 0 ? i : first;
        last = is_kept ? i : last;
    }
    for (i = 0; i < page.n; i++) {
        around[i] = core_tables.tag_sets[page.tag[i]] | (i ? around[page.parent[i]] : 0);
    }
    for (i = 0; i < tables.length; i++) {
        mark_table(&page, ITEMS(tables, int32_t)[i], ITEMS(kept, uint8_t), ITEMS(scores, double), ITEMS(found, uint8_t));
    }
    for (i = 0; i < page.m; i++) {
        uint32_t sets = ITEMS(kept, uint8_t)[i] ? 0 : around[page.block_node[i]];
        if ((sets & TAG_HEADLINE && i < last) || (sets & TAG_CODE && i > first && ITEMS(scores, double)[i] < MAX_SCORE)) {
            main = main < 0 ? main_element(&page, characters) : main;
            ITEMS(found, uint8_t)[i] |= page.block_begin[main] <= i && i < page.block_end[main];
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* enclosed_blocks(page, chosen: bool[n], found: bool[m])

   Writes whether all text of each block is inside chosen elements. */
PyObject *core_enclosed_blocks(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array chosen = {0}, found = {0};
    SCOPED(free_memory) uint8_t *inside = NULL; /* of each element */
    Py_ssize_t i;
    int32_t run;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_page, &page, in_1, &chosen, out_1, &found)
        || !check_arrays(chosen.length == page.n && found.length == page.m)) {
        return NULL;
    }
    if ((inside = malloc((size_t)page.n + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (i = 0; i < page.n; i++) {
        inside[i] = ITEMS(chosen, uint8_t)[i] || (i && inside[page.parent[i]]);
    }
    for (i = 0; i < page.m; i++) {
        for (run = page.block_run_begin[i];
             run < page.block_run_end[i] && (inside[page.run_node[run]] || !page.is_nonblank[run]); run++) {
        }
        ITEMS(found, uint8_t)[i] = run == page.block_run_end[i];
    }
    Py_RETURN_NONE;
}
