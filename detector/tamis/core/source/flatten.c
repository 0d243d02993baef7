/* A parser's tree as flat arrays: see tamis.page.page.

   The GIL is released while a tree of lexbor is read, since its parser belongs to the caller alone, who keeps it; a tree of
   lxml may be another thread's, too. */
#include "flatten.h"
#include "page.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { MOST_KEPT = 32 << 20 }; /* bytes of freed memory at the end of the heap; pages of up to 10,000 elements take less */

/* The arrays of n elements, r runs, m blocks and a attributes, d of them different: type, name, item i, length. */
#define FLAT_ARRAYS(DO) \
    DO(int64_t, run_offset, runs[i].offset, r + 1) \
    DO(int32_t, run_node, runs[i].node, r) \
    DO(uint8_t, is_nonblank, runs[i].is_nonblank, r) \
    DO(uint8_t, has_unseen, runs[i].has_unseen, r) \
    DO(uint8_t, continues_word, runs[i].continues_word, r) \
    DO(int32_t, block_node, blocks[i].node, m) \
    DO(int32_t, block_run_begin, blocks[i].run_begin, m) \
    DO(int32_t, block_run_end, blocks[i].run_end, m) \
    DO(int16_t, tag, elements[i].tag, n) \
    DO(int32_t, parent, elements[i].parent, n) \
    DO(int32_t, end, elements[i].end, n) \
    DO(int32_t, depth, elements[i].depth, n) \
    DO(int32_t, run_begin, elements[i].run_begin, n) \
    DO(int32_t, run_end, elements[i].run_end, n) \
    DO(int32_t, block_begin, elements[i].block_begin, n) \
    DO(int32_t, block_end, elements[i].block_end, n) \
    DO(int32_t, attribute_begin, elements[i].attribute_begin, n + 1) \
    DO(int32_t, first, first[i], a) \
    DO(int32_t, name_of, names[values[i].group].note - 1, d) \
    DO(int32_t, first_index, values[i].note, d) \
    DO(int64_t, value_begin, values[i].begin, d + 1)

/* Bytes for `count` items, so that the next array is aligned. */
#define ROOM(type, count) ((sizeof(type) * (count) + 7) & ~(size_t)7)

static void flat_free(Flat *flat)
{
    strings_free(&flat->tags);
    strings_free(&flat->attributes);
    strings_free(&flat->values);
    free(flat->elements);
    free(flat->runs);
    free(flat->blocks);
    free(flat->first);
    free(flat->text.data);
    free(flat->buffer.data);
}

/* Number the names that are known, and read the tree. */
static int flatten(Flat *flat, Tree *tree, Span tag_names, const Array *tags, Span attribute_names)
{
    const Array *known = &tree->known_tags;
    int32_t template;
    Py_ssize_t k;
    if (strings_allocate(&flat->tags) < 0 || strings_allocate(&flat->attributes) < 0
        || strings_allocate(&flat->values) < 0 || put_lines(&flat->tags, tag_names) < 0
        || put_lines(&flat->attributes, attribute_names) < 0) {
        return NO_MEMORY;
    }
    if ((size_t)tags->length != flat->tags.used || !are_below(known, tags->length + 1)
        || !are_below(&tree->known_attributes, (Py_ssize_t)flat->attributes.used + 1)) {
        return UNREADABLE;
    }
    for (k = 0; k < tags->length; k++) {
        flat->tags.items[k].note = ITEMS(*tags, int32_t)[k];
    }
    template = find_string(&flat->tags, span_of("template"), 0);
    for (k = 0; k < known->length && (template == 0 || ITEMS(*known, int32_t)[k] != template); k++) {
    }
    tree->template = k < known->length ? (uintptr_t)k : MOST_KNOWN;
    flat->tree = tree;
    return step_from(tree, tree->root).is_element ? read_tree(flat) : UNREADABLE;
}

/* Copy the arrays into one object, and tell where each is: (type, first item, end) by name. NULL with an exception. */
static PyObject *put_arrays(const Flat *flat, PyObject *where)
{
    const Element *elements = flat->elements;
    const Run *runs = flat->runs;
    const Block *blocks = flat->blocks;
    const int32_t *first = flat->first;
    const String *names = flat->attributes.items, *values = flat->values.items;
    size_t n = flat->n, r = flat->r, m = flat->m, a = flat->a, d = flat->values.used, i;
#define AND_ROOM(type, name, item, count) + ROOM(type, count)
    PyObject *memory = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(0 FLAT_ARRAYS(AND_ROOM)));
#undef AND_ROOM
    char *begin = memory ? PyBytes_AsString(memory) : NULL, *at = begin;
    int failed = memory == NULL;
#define PUT(type, name, item, count) \
    if (!failed) { \
        Py_ssize_t from = (at - begin) / (Py_ssize_t)sizeof(type); \
        type *to = (type *)at; \
        for (i = 0; i < (count); i++) { \
            to[i] = item; \
        } \
        at += ROOM(type, count); \
        failed = put_item(where, PyUnicode_FromString(#name), Py_BuildValue("snn", #type, from, from + (Py_ssize_t)i)) < 0; \
    }
    FLAT_ARRAYS(PUT)
#undef PUT
    if (failed) {
        Py_XDECREF(memory);
        return NULL;
    }
    return memory;
}

static PyObject *bytes_of(const Bytes *bytes)
{
    return PyBytes_FromStringAndSize(bytes->data, (Py_ssize_t)bytes->used);
}

/* The text that begins an element. */
static PyObject *raw_text(const Tree *tree, const void *element)
{
    const void *first = step_from(tree, element).children, *at;
    Py_ssize_t length = 0;
    PyObject *bytes;
    char *to;
    for (at = first; is_text(tree, at); at = step_from(tree, at).next) {
        Span text = text_of(tree, at);
        length += text.end - text.begin;
    }
    bytes = PyBytes_FromStringAndSize(NULL, length);
    to = bytes ? PyBytes_AsString(bytes) : NULL;
    for (at = first; to != NULL && is_text(tree, at); at = step_from(tree, at).next) {
        Span text = text_of(tree, at);
        if (text.begin < text.end) {
            memcpy(to, text.begin, (size_t)(text.end - text.begin));
        }
        to += text.end - text.begin;
    }
    return bytes;
}

/* Number the names of attributes that occur; put names without a tag, and texts that are kept, by element. */
static int put_texts(Flat *flat, PyObject *names, PyObject *unknown_names, PyObject *raw_texts)
{
    size_t i;
    int32_t count = 0;
    int failed = names == NULL || unknown_names == NULL || raw_texts == NULL;
    for (i = 0; i < flat->values.used && !failed; i++) {
        int32_t name = flat->values.items[i].group, *number = &flat->attributes.items[name].note;
        if (*number == 0) {
            failed = put_item(names, decoded(string_of(&flat->attributes, (size_t)name)), PyLong_FromLong(count)) < 0;
            *number = ++count;
        }
    }
    for (i = 0; i < flat->n && !failed; i++) {
        const Element *element = &flat->elements[i];
        if (element->tag == 0) {
            failed = put_item(unknown_names, PyLong_FromSize_t(i), decoded(string_of(&flat->tags, (size_t)element->name))) < 0;
        }
        if (element->is_raw && !failed) {
            failed = put_item(raw_texts, PyLong_FromSize_t(i), raw_text(flat->tree, element->node)) < 0;
        }
    }
    return failed ? -1 : 0;
}

static PyObject *result_of(Flat *flat)
{
    SCOPED(release_object) PyObject *where = PyDict_New(), *names = PyDict_New(), *arrays = NULL;
    SCOPED(release_object) PyObject *unknown_names = PyDict_New(), *raw_texts = PyDict_New();
    if (where == NULL || put_texts(flat, names, unknown_names, raw_texts) < 0 || (arrays = put_arrays(flat, where)) == NULL) {
        return NULL;
    }
    free(flat->elements); /* as much as the text of many pages, which is copied now */
    flat->elements = NULL;
    return Py_BuildValue("{sOsOsOsOsOsNsNsi}", "arrays", arrays, "where", where, "names", names, "unknown_names",
                         unknown_names, "raw_texts", raw_texts, "utf8", bytes_of(&flat->text), "values",
                         bytes_of(&flat->values.text), "content_in_head", (int)flat->content_in_head);
}

/* flatten(source, tag_names, tags: int32[names], attribute_names, max_nodes, max_levels)
   -> dict, None where the tree cannot be read, or the nodes and levels of one too large

   source: an element of lxml, or a tuple: one of selectolax, and for each number that lexbor has for a name of elements, and
   of attributes, 1 + its line in the names here, 0 for none: int32[]. */
PyObject *core_flatten(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array tags = {0};
    SCOPED(flat_free) Flat flat = {0};
    SCOPED(tree_release) Tree tree = {0};
    Span tag_names, attribute_names;
    Py_ssize_t max_nodes, max_levels;
    PyThreadState *state;
    int is_read;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&nn", in_tree, &tree, in_bytes, &tag_names, in_4, &tags, in_bytes,
                          &attribute_names, &max_nodes, &max_levels)
        || !check_tables(core_tables.character_properties != NULL && core_tables.tag_sets != NULL)
        || !check_arrays(core_tables.tags <= INT16_MAX && are_below(&tags, core_tables.tags))) {
        return NULL;
    }
    state = tree.is_lexbor ? PyEval_SaveThread() : NULL;
    is_read = flatten(&flat, &tree, tag_names, &tags, attribute_names);
    if (is_read == READ && (may_change(bytes_from(&flat.text, 0)) || may_change(bytes_from(&flat.values.text, 0)))) {
        flat_free(&flat); /* rare enough to read the tree again */
        flat = (Flat){.has_controls = 1};
        is_read = flatten(&flat, &tree, tag_names, &tags, attribute_names);
    }
    if (state != NULL) {
        PyEval_RestoreThread(state);
    }
    if (is_read == NO_MEMORY) {
        return PyErr_NoMemory();
    }
    if (is_read == UNREADABLE) {
        Py_RETURN_NONE;
    }
    if (flat.nodes > (size_t)max_nodes || flat.levels > (size_t)max_levels) {
        return Py_BuildValue("nn", (Py_ssize_t)flat.nodes, (Py_ssize_t)flat.levels);
    }
    return result_of(&flat);
}

/* Have glibc keep what a page frees for the next one: to give it back and to get it again, zeroed, takes a twentieth of the
   time of a page. Where the user has said what is kept, nothing is changed. */
void core_keep_memory(void)
{
#ifdef __GLIBC__
    if (getenv("MALLOC_TRIM_THRESHOLD_") == NULL && getenv("MALLOC_MMAP_THRESHOLD_") == NULL && getenv("GLIBC_TUNABLES") == NULL) {
        mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
        mallopt(M_MMAP_THRESHOLD, MOST_KEPT / 4);
    }
#endif
}

/* return_memory(): gives the system what was freed, of which glibc keeps all that lies below something in use */
PyObject *core_return_memory(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(arguments))
{
#ifdef __GLIBC__
    Py_BEGIN_ALLOW_THREADS
    malloc_trim(0);
    Py_END_ALLOW_THREADS
#endif
    Py_RETURN_NONE;
}
