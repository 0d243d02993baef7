/* Which units are counted, and what the counts of the leaves say of the elements around them, for tamis.counting. */
#include "page.h"

/* What is known of an element before it is marked: whether it is in what is ignored, and what is in it. */
enum { IS_HIDDEN = 1, HAS_MEDIA = 2, HAS_TEXT = 4, HAS_LEAF = 8 };

/* Whether no block that begins before an element goes on in it, and none that begins in it goes on after. */
static int is_whole_lines(const PageArrays *page, Py_ssize_t i)
{
    int32_t begun_before = page->block_begin[i], begun = page->block_end[i];
    return (!begun_before || page->block_run_end[begun_before - 1] <= page->run_begin[i])
           && (!begun || page->block_run_end[begun - 1] <= page->run_end[i]);
}

/* mark_units(page, countable: bool[n + m], leaves: bool[n + m]) */
PyObject *core_mark_units(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array countable = {0}, leaves = {0};
    uint8_t *known;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_page, &page, out_1, &countable, out_1, &leaves)
        || !check_arrays(countable.length == page.n + page.m && leaves.length == page.n + page.m)) {
        return NULL;
    }
    known = ITEMS(countable, uint8_t);
    Py_BEGIN_ALLOW_THREADS
    memset(known + page.n, 1, (size_t)page.m);
    memset(ITEMS(leaves, uint8_t) + page.n, 1, (size_t)page.m);
    for (i = 0; i < page.n; i++) {
        int is_hidden = core_tables.tag_sets[page.tag[i]] & TAG_IGNORED || (i && known[page.parent[i]]);
        known[i] = is_hidden ? IS_HIDDEN : 0;
    }
    for (i = 0; i < page.r; i++) {
        known[page.run_node[i]] |= page.is_nonblank[i] ? HAS_TEXT : 0;
    }
    for (i = page.n - 1; i >= 0; i--) {
        uint32_t sets = core_tables.tag_sets[page.tag[i]];
        int all = known[i], is_seen = !(all & IS_HIDDEN), is_counted, is_leaf;
        all |= sets & TAG_MEDIA && is_seen ? HAS_MEDIA : 0;
        is_counted = all & HAS_TEXT ? sets & TAG_BLOCK_LEVEL || is_whole_lines(&page, i) : all & HAS_MEDIA;
        is_counted = is_counted && is_seen && !(sets & TAG_WHOLE_PAGE);
        is_leaf = is_counted && !(all & (HAS_TEXT | HAS_LEAF));
        known[i] = (uint8_t)is_counted;
        ITEMS(leaves, uint8_t)[i] = (uint8_t)is_leaf;
        if (i) {
            known[page.parent[i]] |= (uint8_t)((all & ~IS_HIDDEN) | (is_leaf ? HAS_LEAF : 0));
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* counted_units(page, leaves: bool[n + m], fingerprints: uint64[n + m], lengths: int64[m], codes: uint64[c],
                 units: int64[n + m + c], hashes: uint64[n + m + c], masses: uint8[n + m + c])
                 -> number of units that are counted: leaves in document order, then the codes */
PyObject *core_counted_units(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array leaves = {0}, fingerprints = {0}, lengths = {0}, codes = {0};
    SCOPED(array_release) Array units = {0}, hashes = {0}, masses = {0};
    Py_ssize_t i = 0, block = 0, k, number = 0;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&O&", in_page, &page, in_1, &leaves, in_8, &fingerprints, in_8, &lengths,
                          in_8, &codes, out_8, &units, out_8, &hashes, out_1, &masses)
        || !check_arrays(leaves.length == page.n + page.m && fingerprints.length == leaves.length && lengths.length == page.m
                         && units.length == leaves.length + codes.length && hashes.length == units.length
                         && masses.length == units.length)) {
        return NULL;
    }
    for (k = 0; k < units.length; k++) {
        int is_block = block < page.m && (i == page.n || page.block_run_begin[block] < page.run_begin[i]);
        int64_t length = is_block ? ITEMS(lengths, int64_t)[block] : 0;
        int64_t unit = is_block ? page.n + block++ : i < page.n ? i++ : k;
        Py_ssize_t code = k - leaves.length;
        if (code >= 0 || ITEMS(leaves, uint8_t)[unit]) {
            ITEMS(units, int64_t)[number] = unit;
            ITEMS(hashes, uint64_t)[number] = code < 0 ? ITEMS(fingerprints, uint64_t)[unit] : ITEMS(codes, uint64_t)[code];
            ITEMS(masses, uint8_t)[number++] = (uint8_t)(length < 255 ? length : 255);
        }
    }
    return PyLong_FromSsize_t(number);
}

/* spread_frequencies(page, countable: bool[n + m], leaves: bool[n + m], spread: int64[n + m or more])

   spread: the counts of the leaves are in it, and those of the elements are written there. */
PyObject *core_spread_frequencies(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array countable = {0}, leaves = {0}, spread = {0};
    SCOPED(free_memory) int64_t *smallest = NULL;
    Py_ssize_t i;
    int32_t k;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&", in_page, &page, in_1, &countable, in_1, &leaves, out_8, &spread)
        || !check_arrays(countable.length == page.n + page.m
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
            if (page.is_nonblank[k] && count < smallest[page.run_node[k]]) {
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
