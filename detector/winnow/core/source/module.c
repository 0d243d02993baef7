/* The module winnow.core._compiled, for the stable ABI of CPython 3.11 and later. */
#include "core.h"

int bytes_reserve(Bytes *bytes, size_t more)
{
    size_t wanted = bytes->used + more;
    size_t capacity = bytes->capacity ? bytes->capacity : 1024;
    char *data;
    if (wanted < more) {
        PyErr_NoMemory();
        return -1;
    }
    while (capacity < wanted) {
        if (capacity > SIZE_MAX / 2) {
            PyErr_NoMemory();
            return -1;
        }
        capacity *= 2;
    }
    data = realloc(bytes->data, capacity);
    if (data == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return 0;
}

void bytes_free(Bytes *bytes)
{
    free(bytes->data);
    bytes->data = NULL;
    bytes->used = bytes->capacity = 0;
}

int array_borrow(Array *array, PyObject *object, Py_ssize_t size, int writable, const char *name)
{
    int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &array->view, flags) < 0) {
        return -1;
    }
    array->held = 1;
    if (array->view.itemsize != size) {
        PyErr_Format(PyExc_TypeError, "%s: expected items of %zd bytes, not %zd", name, size, array->view.itemsize);
        return -1;
    }
    array->length = array->view.len / size;
    return 0;
}

void array_release(Array *array)
{
    if (array->held) {
        PyBuffer_Release(&array->view);
        array->held = 0;
    }
}

int arrays_borrow(Array *arrays, PyObject *const *objects, const int *sizes, const char *const *names, int count,
                  int writable)
{
    int k;
    for (k = 0; k < count; k++) {
        if (array_borrow(&arrays[k], objects[k], sizes[k], k >= writable, names[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

void arrays_release(Array *arrays, int count)
{
    while (count-- > 0) {
        array_release(&arrays[count]);
    }
}

static PyMethodDef methods[] = {
    {"flatten", core_flatten, METH_VARARGS, "The arrays of winnow.page.flattening."},
    {"count_kinds", core_count_kinds, METH_VARARGS, "The totals of winnow.page.text."},
    {"block_texts", core_block_texts, METH_VARARGS, "Texts of blocks, white space normalised, a line each."},
    {"limit_attributes", core_limit_attributes, METH_VARARGS, "A document without what its tags have above so many attributes."},
    {"find_end", core_find_end, METH_O, "Where a parser takes a document for ended."},
    {"lower_case", core_lower_case, METH_VARARGS, "Texts in lower case."},
    {"leading_words", core_leading_words, METH_VARARGS, "Hashes of the words at the beginning of each line."},
    {"text_hashes", core_text_hashes, METH_VARARGS, "The prefix sums of winnow.fingerprints."},
    {"attribute_tokens", core_attribute_tokens, METH_VARARGS, "The tokens of winnow.fingerprints."},
    {"node_fingerprints", core_node_fingerprints, METH_VARARGS, "The hashes of winnow.fingerprints."},
    {"nearest", core_nearest, METH_VARARGS, "The look-up of winnow.page.tree."},
    {"within", core_within, METH_VARARGS, "The covers of winnow.page.tree."},
    {"countable", core_countable, METH_VARARGS, "The units of winnow.counting."},
    {"leaves", core_leaves, METH_VARARGS, "Those of winnow.counting."},
    {"leaf_frequencies", core_leaf_frequencies, METH_VARARGS, "What their counts say of other units."},
    {"shingles", core_shingles, METH_VARARGS, "The hashes of winnow.duplicates.shingles."},
    {"name_parts", core_name_parts, METH_VARARGS, "Hashes of the parts of names."},
    {"class_signatures", core_class_signatures, METH_VARARGS, "Checksums of values without their numbers."},
    {"hiding_rules", core_hiding_rules, METH_O, "The rules of a style sheet that may hide something."},
    {"match_predicates", core_match_predicates, METH_VARARGS, "The marks of winnow.page.attributes."},
    {"date_signs", core_date_signs, METH_VARARGS, "The signs of winnow.evidence.comment_model."},
    {"sequence_logits", core_sequence_logits, METH_VARARGS, "The logits of winnow.models.sequence.SequenceNetwork."},
    {"limit_registers", core_limit_registers, METH_VARARGS, "Multiply with registers of so many bytes at most, for tests."},
    {"static_features", core_static_features, METH_VARARGS, "The features of winnow.features.blocks."},
    {"word_features", core_word_features, METH_VARARGS, "Features of words by a table of log-odds."},
    {"name_features", core_name_features, METH_VARARGS, "Features of names by a table of log-odds."},
    {"smooth", core_smooth, METH_VARARGS, "The smoothed scores of winnow.smoothing."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    core_prepare_crc32();
    core_prepare_features();
    core_prepare_products();
    return PyModule_AddIntConstant(module, "VERSION", CORE_VERSION) < 0 ? -1 : tree_prepare();
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "winnow.core._compiled",
    "Scans of pages in C.",
    0,
    methods,
    slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
