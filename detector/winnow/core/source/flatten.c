/* An lxml tree as flat arrays: see winnow.page.page.

   It reads the nodes of libxml2 behind lxml's elements, whose layout has been the same since libxml2 2.0 (2000) and is
   part of its interface; lxml's public C header says where an element holds its node. tree_prepare() refuses what it
   does not know. The GIL is held while the tree is read, since other threads may change it. */
#include "flatten.h"

static PyTypeObject *element_type;

int tree_prepare(void)
{
    PyObject *etree = PyImport_ImportModule("lxml.etree");
    PyObject *type = etree ? PyObject_GetAttrString(etree, "_Element") : NULL;
    PyObject *size = type ? PyObject_GetAttrString(type, "__basicsize__") : NULL;
    PyObject *version = size ? PyObject_GetAttrString(etree, "LIBXML_VERSION") : NULL;
    long major, minor, patch;
    int is_read = version != NULL && PyArg_ParseTuple(version, "lll", &major, &minor, &patch);
    if (is_read && (!PyType_Check(type) || PyLong_AsSsize_t(size) != (Py_ssize_t)sizeof(LxmlElement) || major != 2 || minor < 9)) {
        PyErr_SetString(PyExc_ImportError, "this lxml or libxml2 is not one whose trees can be read");
        is_read = 0;
    }
    Py_XDECREF(version);
    Py_XDECREF(size);
    Py_XDECREF(etree);
    element_type = (PyTypeObject *)type; /* kept for good */
    return is_read ? 0 : -1;
}

/* The root of a tree of lxml, or of one made from lexbor's. */
typedef struct {
    const Node *root; /* NULL for a tree that cannot be read */
    Size size;
    PyObject *known_attributes;
    Chunk *chunks;
} Source;

static void source_free(Source *source)
{
    chunks_free(&source->chunks);
}

/* A converter as in core.h. */
static int in_source(PyObject *object, void *to)
{
    Source *source = to;
    PyObject *node, *known_tags;
    int is_read;
    if (PyTuple_Check(object)) {
        if (!PyArg_ParseTuple(object, "OO!O!", &node, &PyList_Type, &known_tags, &PyList_Type,
                              &source->known_attributes)) {
            return 0;
        }
        is_read = copy_lexbor(&source->root, &source->size, node, known_tags, &source->chunks);
        source->root = is_read == 1 ? source->root : NULL;
        return is_read >= 0;
    }
    if (!PyObject_TypeCheck(object, element_type)) {
        PyErr_SetString(PyExc_TypeError, "expected an lxml element");
        return 0;
    }
    if ((source->root = ((LxmlElement *)object)->node) == NULL) {
        PyErr_SetString(PyExc_ValueError, "the element has no node");
        return 0;
    }
    return 1;
}

int append_bytes(Bytes *to, const void *from, size_t length)
{
    if (to->capacity - to->used < length && reserve(&to->data, &to->capacity, to->used + length) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    if (length) {
        memcpy(to->data + to->used, from, length);
    }
    to->used += length;
    return 0;
}

PyObject *bytes_of(const Bytes *bytes)
{
    return PyBytes_FromStringAndSize(bytes->data, (Py_ssize_t)bytes->used);
}

int append_content(Bytes *to, const Node *node)
{
    return node->content ? append_bytes(to, node->content, strlen((const char *)node->content)) : 0;
}

/* The node after another in the order of the document, NULL behind the last one in `root`; `depth` follows. */
static const Node *next_node(const Node *node, const Node *root, size_t *depth)
{
    if (node->type == ELEMENT && node->children != NULL) {
        ++*depth;
        return node->children;
    }
    while (node != root && node->next == NULL) {
        node = node->parent;
        --*depth;
    }
    return node == root ? NULL : node->next;
}

static Size size_of(const Node *root)
{
    Size size = {0, 0, 0, 0, 0};
    size_t depth = 0;
    const Node *node;
    for (node = root; node != NULL; node = next_node(node, root, &depth)) {
        if (node->type == ELEMENT) {
            const Node *attribute;
            size.elements++;
            size.levels = depth < size.levels ? size.levels : depth + 1;
            for (attribute = node->properties; attribute != NULL; attribute = attribute->next) {
                size.attributes++;
            }
        }
        size.nodes += node->type == ELEMENT || IS_NODE(node);
        size.texts += IS_TEXT(node);
    }
    return size;
}

static int names_allocate(Names *names, size_t most)
{
    names->mask = slots_for(most) - 1;
    names->slots = calloc(names->mask + 1, sizeof(uint32_t));
    names->known = malloc(sizeof(Name) * most + 1);
    return names->slots && names->known ? 0 : -1;
}

static void names_free(Names *names)
{
    free(names->slots);
    free(names->known);
}

static void flat_free(Flat *flat)
{
    free(flat->memory);
    free(flat->container);
    free(flat->table);
    names_free(&flat->tags);
    names_free(&flat->attribute_names);
    free(flat->text.data);
    free(flat->values.data);
    Py_XDECREF(flat->raw_texts);
    Py_XDECREF(flat->unknown);
    Py_XDECREF(flat->name_numbers);
    Py_XDECREF(flat->tags_found);
}

static int flat_allocate(Flat *flat)
{
    size_t n = flat->size.elements, r = flat->size.texts, m = r, a = flat->size.attributes, d = a;
#define SIZE(type, name, count) + sizeof(type) * (count)
    char *at = flat->memory = calloc(1, 0 FLAT_ARRAYS(SIZE));
#undef SIZE
    flat->container = malloc(sizeof(int32_t) * n + 1);
    flat->table_mask = slots_for(a) - 1;
    flat->table = calloc(flat->table_mask + 1, sizeof(uint32_t));
    if (flat->memory == NULL || flat->container == NULL || flat->table == NULL || names_allocate(&flat->tags, n) < 0
        || names_allocate(&flat->attribute_names, a) < 0) {
        PyErr_NoMemory();
        return -1;
    }
#define CARVE_FIELD(type, name, count) CARVE(at, flat->name, count);
    FLAT_ARRAYS(CARVE_FIELD)
#undef CARVE_FIELD
    flat->unknown = PyDict_New();
    flat->name_numbers = PyDict_New();
    flat->tags_found = PySet_New(NULL);
    flat->raw_texts = PyDict_New();
    return flat->unknown && flat->name_numbers && flat->tags_found && flat->raw_texts ? 0 : -1;
}

/* Convert run_offset from bytes to characters, and find the runs with invisible characters. */
static void in_characters(Flat *flat, const uint8_t *properties)
{
    const unsigned char *data = (const unsigned char *)flat->text.data;
    int64_t characters = 0, at = 0;
    size_t r;
    for (r = 1; r <= flat->r; r++) {
        int64_t end = flat->run_offset[r], more = 0;
        const unsigned char *rest = data + at;
        int is_ascii;
        for (; at < end; at++) {
            more += (data[at] & 0xC0) != 0x80;
        }
        is_ascii = more == data + end - rest;
        while (!is_ascii && !flat->has_unseen[r - 1] && rest < data + end) {
            flat->has_unseen[r - 1] = (property_of(properties, next_character(&rest, data + end)) & IS_UNSEEN) != 0;
        }
        characters += more;
        flat->run_offset[r] = characters;
    }
}

/* Store an object under a name, stealing the reference; 0, or -1 with an exception. */
static int put(PyObject *found, const char *name, PyObject *object)
{
    int failed = object == NULL || PyDict_SetItemString(found, name, object) < 0;
    Py_XDECREF(object);
    return failed ? -1 : 0;
}

static PyObject *result_of(Flat *flat, const uint8_t *properties)
{
    PyObject *found = PyDict_New();
    size_t n = flat->n, r = flat->r, m = flat->m, a = flat->a, d = flat->d;
#define PUT(type, name, count) \
    || put(found, #name, PyBytes_FromStringAndSize((const char *)flat->name, (Py_ssize_t)(sizeof(type) * (count)))) < 0
    in_characters(flat, properties);
    if (found == NULL
        || put(found, "utf8", bytes_of(&flat->text)) < 0
        || put(found, "values", bytes_of(&flat->values)) < 0
        || put(found, "names", Py_NewRef(flat->name_numbers)) < 0
        || put(found, "tags", Py_NewRef(flat->tags_found)) < 0
        || put(found, "content_in_head", PyLong_FromLong(flat->content_in_head)) < 0
        || put(found, "unknown_names", Py_NewRef(flat->unknown)) < 0
        || put(found, "raw_texts", Py_NewRef(flat->raw_texts)) < 0 FLAT_ARRAYS(PUT)) {
        Py_XDECREF(found);
        return NULL;
    }
#undef PUT
    return found;
}

/* flatten(source, tag_ids, kinds: uint8[tags], properties, seed, max_nodes, max_levels) -> dict of arrays, None where the tree
           cannot be read, or the nodes and levels of one too large

   source: an element of lxml, or a tuple: an element of selectolax, and the names of elements and of attributes that lexbor
   knows, lists of bytes by its numbers. */
PyObject *core_flatten(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array kinds = {0}, properties = {0};
    SCOPED(flat_free) Flat flat = {0};
    SCOPED(source_free) Source source = {0};
    unsigned long long seed;
    const Node *root;
    Py_ssize_t max_nodes, max_levels;
    int is_read;
    if (!PyArg_ParseTuple(arguments, "O&O!O&O&Knn", in_source, &source, &PyDict_Type, &flat.tag_ids, in_1, &kinds, in_properties,
                          &properties, &seed, &max_nodes, &max_levels)) {
        return NULL;
    }
    root = source.root;
    if (root == NULL || root->type != ELEMENT) {
        Py_RETURN_NONE;
    }
    flat.seed = seed;
    flat.known_attributes = source.known_attributes;
    flat.size = source.known_attributes ? source.size : size_of(root);
    if (flat.size.nodes > (size_t)max_nodes || flat.size.levels > (size_t)max_levels) {
        return Py_BuildValue("nn", (Py_ssize_t)flat.size.nodes, (Py_ssize_t)flat.size.levels);
    }
    if (flat.size.elements >= INT32_MAX || flat.size.attributes >= INT32_MAX || flat.size.texts >= INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the tree is too large");
        return NULL;
    }
    is_read = flat_allocate(&flat);
    if (is_read == 0) {
        is_read = read_tree(&flat, root, &kinds, ITEMS(properties, uint8_t));
    }
    if (is_read > 0) {
        return result_of(&flat, ITEMS(properties, uint8_t));
    }
    return is_read == 0 ? Py_NewRef(Py_None) : NULL;
}
