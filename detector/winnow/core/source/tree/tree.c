/* An lxml tree as flat arrays: the double of winnow.page.flattening.

   It reads the nodes of libxml2 behind lxml's elements, whose layout has been the same since libxml2 2.0 (2000) and is
   part of its interface; lxml's public C header says where an element holds its node. tree_prepare() refuses what it
   does not know. The GIL is held while the tree is read, since other threads may change it. */
#include "core.h"
#include "nodes.h"

static PyTypeObject *element_type;

int tree_prepare(void)
{
    PyObject *etree = PyImport_ImportModule("lxml.etree"), *type = NULL, *size = NULL, *version = NULL;
    int result = -1;
    long major, minor, patch;
    if (etree == NULL) {
        return -1;
    }
    type = PyObject_GetAttrString(etree, "_Element");
    size = type ? PyObject_GetAttrString(type, "__basicsize__") : NULL;
    version = size ? PyObject_GetAttrString(etree, "LIBXML_VERSION") : NULL;
    if (version == NULL || !PyArg_ParseTuple(version, "lll", &major, &minor, &patch)) {
        goto done;
    }
    if (!PyType_Check(type) || PyLong_AsSsize_t(size) != (Py_ssize_t)sizeof(LxmlElement) || major != 2 || minor < 9) {
        PyErr_SetString(PyExc_ImportError, "this lxml or libxml2 is not one whose trees can be read");
        goto done;
    }
    element_type = (PyTypeObject *)type;
    type = NULL; /* kept for good */
    result = 0;
done:
    Py_XDECREF(version);
    Py_XDECREF(size);
    Py_XDECREF(type);
    Py_DECREF(etree);
    return result;
}

static const Node *node_of(PyObject *object)
{
    const Node *node;
    if (!PyObject_TypeCheck(object, element_type)) {
        PyErr_SetString(PyExc_TypeError, "expected an lxml element");
        return NULL;
    }
    node = ((LxmlElement *)object)->node;
    if (node == NULL) {
        PyErr_SetString(PyExc_ValueError, "the element has no node");
    }
    return node;
}

typedef struct {
    size_t nodes;      /* elements, comments, instructions and references */
    size_t elements;
    size_t texts;
    size_t attributes;
    size_t levels;     /* of elements */
} Size;

static Size size_of(const Node *root)
{
    Size size = {0, 0, 0, 0, 0};
    size_t depth = 0;
    const Node *node = root;
    for (;;) {
        if (node->type == ELEMENT) {
            const Attribute *attribute;
            size.nodes++;
            size.elements++;
            if (++depth > size.levels) {
                size.levels = depth;
            }
            for (attribute = node->properties; attribute != NULL; attribute = attribute->next) {
                size.attributes++;
            }
            if (node->children != NULL) {
                node = node->children;
                continue;
            }
            depth--;
        }
        else if (IS_TEXT(node)) {
            size.texts++;
        }
        else if (IS_NODE(node)) {
            size.nodes++;
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            depth--;
        }
        if (node == root) {
            return size;
        }
        node = node->next;
    }
}

/* Names by the addresses of their strings, which libxml2 keeps once per document. */
typedef struct {
    const unsigned char *name;
    const Namespace *space;
    int32_t value;
} Name;

typedef struct {
    Name *slots;
    size_t used;
    size_t mask;
} Names;

static int names_grow(Names *names)
{
    size_t count = names->slots ? 2 * (names->mask + 1) : 256, i;
    Name *old = names->slots, *slots = calloc(count, sizeof(Name));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; old != NULL && i <= names->mask; i++) {
        if (old[i].name != NULL) {
            size_t at = ((uintptr_t)old[i].name >> 3) * 0x9E3779B97F4A7C15u >> 20 & (count - 1);
            while (slots[at].name != NULL) {
                at = (at + 1) & (count - 1);
            }
            slots[at] = old[i];
        }
    }
    free(old);
    names->slots = slots;
    names->mask = count - 1;
    return 0;
}

/* The slot of a name: a used one, or an empty one to be filled. NULL without memory. */
static Name *names_find(Names *names, const unsigned char *name, const Namespace *space)
{
    size_t at;
    if (2 * names->used >= names->mask && names_grow(names) < 0) {
        return NULL;
    }
    at = ((uintptr_t)name >> 3) * 0x9E3779B97F4A7C15u >> 20 & names->mask;
    while (names->slots[at].name != NULL && (names->slots[at].name != name || names->slots[at].space != space)) {
        at = (at + 1) & names->mask;
    }
    return &names->slots[at];
}

/* lxml's name of a node: "{namespace}name". */
static PyObject *full_name(const unsigned char *name, const Namespace *space)
{
    if (space == NULL || space->href == NULL) {
        return PyUnicode_FromString((const char *)name);
    }
    return PyUnicode_FromFormat("{%s}%s", (const char *)space->href, (const char *)name);
}

/* Everything that is written while a tree is read. */
typedef struct {
    Size size;
    /* elements */
    int16_t *tag;
    int32_t *parent, *end, *depth, *run_begin, *run_end, *block_begin, *block_end, *attribute_begin, *container;
    /* runs and blocks: at most one of each a text node */
    int64_t *run_offset;
    int32_t *run_node, *block_node, *block_run_begin, *block_run_end;
    uint8_t *inked;
    /* attributes */
    int32_t *first, *place, *name_of;
    int64_t *value_begin;
    size_t n, r, m, a, d;
    Bytes text, values, title;
    int titled;
    Names tags, attribute_names;
    uint32_t *table; /* 1 + number of a different attribute, by hash of name and value */
    size_t table_mask;
    uint64_t seed;
    PyObject *unknown, *name_numbers, *name_list;
    void *block_memory;
} Flat;

static void flat_free(Flat *flat)
{
    free(flat->block_memory);
    free(flat->table);
    free(flat->tags.slots);
    free(flat->attribute_names.slots);
    bytes_free(&flat->text);
    bytes_free(&flat->values);
    bytes_free(&flat->title);
    Py_XDECREF(flat->unknown);
    Py_XDECREF(flat->name_numbers);
    Py_XDECREF(flat->name_list);
}

static int flat_allocate(Flat *flat)
{
    size_t n = flat->size.elements, r = flat->size.texts, a = flat->size.attributes, slots = 64;
    size_t wide = (r + 1) + (a + 1);
    size_t narrow = 9 * n + 1 + 4 * r + 3 * a;
    char *at = calloc(1, 8 * wide + 4 * narrow + 2 * n + r + 8);
    if (at == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    flat->block_memory = at;
#define TAKE(field, type, count) (flat->field = (type *)(void *)at, at += sizeof(type) * (count))
    TAKE(run_offset, int64_t, r + 1);
    TAKE(value_begin, int64_t, a + 1);
    TAKE(parent, int32_t, n);
    TAKE(end, int32_t, n);
    TAKE(depth, int32_t, n);
    TAKE(run_begin, int32_t, n);
    TAKE(run_end, int32_t, n);
    TAKE(block_begin, int32_t, n);
    TAKE(block_end, int32_t, n);
    TAKE(container, int32_t, n);
    TAKE(attribute_begin, int32_t, n + 1);
    TAKE(run_node, int32_t, r);
    TAKE(block_node, int32_t, r);
    TAKE(block_run_begin, int32_t, r);
    TAKE(block_run_end, int32_t, r);
    TAKE(first, int32_t, a);
    TAKE(place, int32_t, a);
    TAKE(name_of, int32_t, a);
    TAKE(tag, int16_t, n);
    TAKE(inked, uint8_t, r);
#undef TAKE
    while (slots < 2 * a) {
        slots *= 2;
    }
    flat->table = calloc(slots, sizeof(uint32_t));
    flat->table_mask = slots - 1;
    if (flat->table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    flat->unknown = PyDict_New();
    flat->name_numbers = PyDict_New();
    flat->name_list = PyList_New(0);
    return flat->unknown && flat->name_numbers && flat->name_list ? 0 : -1;
}

/* A keyed hash of the bytes of a value; a page cannot choose its collisions without the key. */
static uint64_t hash_value(uint64_t seed, int32_t name, const unsigned char *value, size_t length)
{
    uint64_t h = seed ^ ((uint64_t)(uint32_t)name * 0x9E3779B97F4A7C15u) ^ length, word;
    while (length >= 8) {
        memcpy(&word, value, 8);
        h = (h ^ word) * 0xBF58476D1CE4E5B9u;
        h ^= h >> 29;
        h += seed;
        value += 8;
        length -= 8;
    }
    word = 0;
    memcpy(&word, value, length);
    h = (h ^ word) * 0x94D049BB133111EBu;
    h ^= h >> 32;
    h = (h + seed) * 0xBF58476D1CE4E5B9u;
    return h ^ h >> 30;
}

/* Number of an attribute's name, by its text. */
static int32_t attribute_name(Flat *flat, const Attribute *attribute)
{
    Name *slot = names_find(&flat->attribute_names, attribute->name, attribute->space);
    PyObject *name, *number;
    if (slot == NULL) {
        return -1;
    }
    if (slot->name != NULL) {
        return slot->value;
    }
    name = full_name(attribute->name, attribute->space);
    if (name == NULL) {
        return -1;
    }
    number = PyDict_GetItemWithError(flat->name_numbers, name);
    if (number == NULL) {
        Py_ssize_t next = PyList_Size(flat->name_list);
        if (PyErr_Occurred() || (number = PyLong_FromSsize_t(next)) == NULL) {
            Py_DECREF(name);
            return -1;
        }
        if (PyDict_SetItem(flat->name_numbers, name, number) < 0 || PyList_Append(flat->name_list, name) < 0) {
            Py_DECREF(number);
            Py_DECREF(name);
            return -1;
        }
        Py_DECREF(number); /* the dictionary holds it */
    }
    slot->name = attribute->name;
    slot->space = attribute->space;
    slot->value = (int32_t)PyLong_AsLong(number);
    flat->attribute_names.used++;
    Py_DECREF(name);
    return slot->value;
}

/* Note the attributes of an element: 1, 0 where a value is none that can be read simply, -1 with an exception. */
static int read_attributes(Flat *flat, const Node *node)
{
    const Attribute *attribute;
    for (attribute = node->properties; attribute != NULL; attribute = attribute->next) {
        const Node *text = attribute->children;
        const unsigned char *value = (const unsigned char *)"";
        size_t length, at;
        int32_t name;
        uint32_t found;
        if (attribute->type != ATTRIBUTE) {
            continue;
        }
        if (text != NULL) {
            if (!IS_TEXT(text) || text->next != NULL) {
                return 0;
            }
            if (text->content != NULL) {
                value = text->content;
            }
        }
        if (flat->a >= flat->size.attributes) {
            PyErr_SetString(PyExc_RuntimeError, "the tree has changed while it was read");
            return -1;
        }
        if ((name = attribute_name(flat, attribute)) < 0) {
            return -1;
        }
        length = strlen((const char *)value);
        at = hash_value(flat->seed, name, value, length) & flat->table_mask;
        while ((found = flat->table[at]) != 0) {
            size_t begin = (size_t)flat->value_begin[found - 1];
            size_t known = (size_t)flat->value_begin[found] - begin;
            if (flat->name_of[found - 1] == name && known == length
                && (length == 0 || memcmp(flat->values.data + begin, value, length) == 0)) {
                break;
            }
            at = (at + 1) & flat->table_mask;
        }
        if (found == 0) {
            if (bytes_append(&flat->values, value, length) < 0) {
                return -1;
            }
            flat->name_of[flat->d] = name;
            flat->place[flat->d] = (int32_t)flat->a;
            flat->value_begin[++flat->d] = (int64_t)flat->values.used;
            found = flat->table[at] = (uint32_t)flat->d;
        }
        flat->first[flat->a++] = flat->place[found - 1];
    }
    return 1;
}

/* Number of a name in winnow.page.tags.TAG_ID, of its local part in lower case where it is not there itself, or 0. No
   Python code runs, so no other thread can come in between. */
static int32_t tag_id_of(PyObject *tag_ids, PyObject *name)
{
    PyObject *number = PyDict_GetItemWithError(tag_ids, name), *parts = NULL, *lower = NULL;
    int32_t id = 0;
    if (number == NULL && !PyErr_Occurred()) {
        parts = PyObject_CallMethod(name, "rpartition", "s", "}");
        lower = parts ? PyObject_CallMethod(PyTuple_GetItem(parts, 2), "lower", NULL) : NULL;
        number = lower ? PyDict_GetItemWithError(tag_ids, lower) : NULL;
    }
    if (number != NULL) {
        id = (int32_t)PyLong_AsLong(number);
    }
    Py_XDECREF(lower);
    Py_XDECREF(parts);
    return PyErr_Occurred() ? -1 : id;
}

static int tag_of(Flat *flat, const Node *node, PyObject *tag_ids, int32_t *tag)
{
    Name *slot = names_find(&flat->tags, node->name, node->space);
    if (slot == NULL) {
        return -1;
    }
    if (slot->name == NULL) {
        PyObject *name = full_name(node->name, node->space);
        int32_t id = name ? tag_id_of(tag_ids, name) : -1;
        Py_XDECREF(name);
        if (id < 0) {
            return -1;
        }
        slot->name = node->name;
        slot->space = node->space;
        slot->value = id;
        flat->tags.used++;
    }
    *tag = slot->value;
    return 0;
}

/* Keep all text inside an element, whose tree is read here for itself; 0, or -1 without memory. */
static int read_title(Flat *flat, const Node *root)
{
    const Node *node = root;
    flat->titled = 1;
    for (;;) {
        if (IS_TEXT(node) && node->content != NULL
            && bytes_append(&flat->title, node->content, strlen((const char *)node->content)) < 0) {
            return -1;
        }
        if (node->type == ELEMENT && node->children != NULL) {
            node = node->children;
            continue;
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
        }
        if (node == root) {
            return 0;
        }
        node = node->next;
    }
}

/* The run that is being read, if `open`, ends here. */
static void end_run(Flat *flat, int32_t border, int32_t *last_border, const uint8_t *properties)
{
    const unsigned char *data = (const unsigned char *)flat->text.data;
    const unsigned char *at = data + flat->run_offset[flat->r], *end = data + flat->text.used;
    size_t r = flat->r++;
    flat->run_offset[r + 1] = (int64_t)flat->text.used;
    while (at < end) {
        if (!(property_of(properties, next_character(&at, end)) & WHITE_SPACE)) {
            flat->inked[r] = 1;
            break;
        }
    }
    if (!flat->inked[r]) {
        return;
    }
    if (*last_border != border) {
        *last_border = border;
        flat->block_node[flat->m] = flat->container[flat->run_node[r]];
        flat->block_run_begin[flat->m++] = (int32_t)r;
    }
    flat->block_run_end[flat->m - 1] = (int32_t)r + 1;
}

/* 1, 0 where the tree holds what cannot be read simply, -1 with an exception. */
static int read_tree(Flat *flat, const Node *root, PyObject *tag_ids, int32_t title, int32_t image,
                     const Array *block_level, const Array *unseen, const uint8_t *properties)
{
    const Node *node = root;
    int32_t current = -1, border = 0, last_border = -1, hidden = 0, deep = 0;
    int reading = 1, in_run = 0; /* whether text counts here, and whether some has been met since the last markup */
#define END_RUN() (in_run ? (end_run(flat, border, &last_border, properties), in_run = 0) : 0)
#define IN_TABLE(table, tag) ((tag) >= 0 && (tag) < (table)->length && ITEMS(*(table), uint8_t)[tag])
    for (;;) {
        if (node->type == ELEMENT) {
            int32_t tag, i = (int32_t)flat->n;
            int known, is_block;
            END_RUN();
            reading = 1;
            if (flat->n >= flat->size.elements) {
                PyErr_SetString(PyExc_RuntimeError, "the tree has changed while it was read");
                return -1;
            }
            if (tag_of(flat, node, tag_ids, &tag) < 0) {
                return -1;
            }
            flat->n++;
            flat->tag[i] = (int16_t)tag;
            flat->parent[i] = current;
            flat->depth[i] = deep++;
            flat->run_begin[i] = (int32_t)flat->r;
            flat->block_begin[i] = (int32_t)flat->m;
            if (tag == 0) {
                PyObject *key = PyLong_FromLong(i), *name = full_name(node->name, node->space);
                int failed = key == NULL || name == NULL || PyDict_SetItem(flat->unknown, key, name) < 0;
                Py_XDECREF(key);
                Py_XDECREF(name);
                if (failed) {
                    return -1;
                }
            }
            if (tag == title && !flat->titled && (current < 0 || flat->tag[current] != image)
                && read_title(flat, node) < 0) {
                return -1;
            }
            if ((known = read_attributes(flat, node)) != 1) {
                return known;
            }
            flat->attribute_begin[i + 1] = (int32_t)flat->a;
            is_block = IN_TABLE(block_level, tag);
            flat->container[i] = is_block || current < 0 ? i : flat->container[current];
            border += is_block || current < 0;
            hidden += IN_TABLE(unseen, tag);
            current = i;
            if (node->children != NULL) {
                node = node->children;
                continue;
            }
        }
        else if (IS_TEXT(node)) {
            if (reading && !hidden && node->content != NULL && node->content[0] != 0) {
                if (!in_run) {
                    if (flat->r >= flat->size.texts) {
                        PyErr_SetString(PyExc_RuntimeError, "the tree has changed while it was read");
                        return -1;
                    }
                    flat->run_node[flat->r] = current;
                    in_run = 1;
                }
                if (bytes_append(&flat->text, node->content, strlen((const char *)node->content)) < 0) {
                    return -1;
                }
            }
        }
        else if (IS_NODE(node)) {
            END_RUN();
            reading = 1;
        }
        else if (node->type != XINCLUDE_START && node->type != XINCLUDE_END) {
            reading = 0; /* as lxml, which reads no further */
        }
        for (;;) { /* close what ends here */
            if (node->type == ELEMENT) {
                int32_t tag = flat->tag[current];
                END_RUN();
                reading = 1;
                flat->end[current] = (int32_t)flat->n;
                flat->run_end[current] = (int32_t)flat->r;
                flat->block_end[current] = (int32_t)flat->m;
                border += IN_TABLE(block_level, tag);
                hidden -= IN_TABLE(unseen, tag);
                deep--;
                current = flat->parent[current];
            }
            if (node == root || node->next != NULL) {
                break;
            }
            node = node->parent;
        }
        if (node == root) {
            return 1;
        }
        node = node->next;
    }
#undef END_RUN
#undef IN_TABLE
}

/* Characters instead of bytes in run_offset. */
static void in_characters(Flat *flat)
{
    const unsigned char *data = (const unsigned char *)flat->text.data;
    int64_t characters = 0, at = 0;
    size_t r;
    for (r = 1; r <= flat->r; r++) {
        int64_t end = flat->run_offset[r], more = 0;
        for (; at < end; at++) {
            more += (data[at] & 0xC0) != 0x80;
        }
        characters += more;
        flat->run_offset[r] = characters;
    }
}

/* Put an object, which is taken over, under a name; 0, or -1 with an exception. */
static int put(PyObject *found, const char *name, PyObject *object)
{
    int failed = object == NULL || PyDict_SetItemString(found, name, object) < 0;
    Py_XDECREF(object);
    return failed ? -1 : 0;
}

static PyObject *result_of(Flat *flat)
{
    PyObject *found = PyDict_New();
    const char *text = flat->text.data ? flat->text.data : "", *values = flat->values.data ? flat->values.data : "";
    const char *title = flat->title.data ? flat->title.data : "";
    size_t n = flat->n, r = flat->r, m = flat->m, a = flat->a, d = flat->d;
    if (found == NULL || put(found, "text", PyUnicode_DecodeUTF8(text, (Py_ssize_t)flat->text.used, "strict")) < 0) {
        Py_XDECREF(found);
        return NULL;
    }
    in_characters(flat);
#define PUT(array, count) \
    put(found, #array, \
        PyByteArray_FromStringAndSize((const char *)flat->array, (Py_ssize_t)(sizeof(*flat->array) * (count))))
    if (PUT(tag, n) < 0 || PUT(parent, n) < 0 || PUT(end, n) < 0 || PUT(depth, n) < 0 || PUT(run_offset, r + 1) < 0
        || PUT(inked, r) < 0 || PUT(run_node, r) < 0 || PUT(run_begin, n) < 0 || PUT(run_end, n) < 0
        || PUT(block_node, m) < 0 || PUT(block_run_begin, m) < 0 || PUT(block_run_end, m) < 0 || PUT(block_begin, n) < 0
        || PUT(block_end, n) < 0 || PUT(attribute_begin, n + 1) < 0 || PUT(first, a) < 0 || PUT(place, d) < 0
        || PUT(name_of, d) < 0 || PUT(value_begin, d + 1) < 0
        || put(found, "title", PyUnicode_DecodeUTF8(title, (Py_ssize_t)flat->title.used, "strict")) < 0
        || put(found, "values", PyBytes_FromStringAndSize(values, (Py_ssize_t)flat->values.used)) < 0
        || put(found, "names", Py_NewRef(flat->name_list)) < 0
        || put(found, "unknown_names", Py_NewRef(flat->unknown)) < 0) {
        Py_DECREF(found);
        return NULL;
    }
#undef PUT
    return found;
}

/* flatten(root, tag_ids, title, image, block_level: bool[tags], unseen: bool[tags], properties, seed, most_nodes,
           most_levels) -> dict of arrays, None where the tree cannot be read, or the nodes and levels of one too large */
PyObject *core_flatten(PyObject *module, PyObject *arguments)
{
    PyObject *root, *tag_ids, *block_level, *unseen, *properties, *result = NULL;
    Array blocks = {0}, hidden = {0}, table = {0};
    unsigned long long seed;
    const Node *node;
    Py_ssize_t most_nodes, most_levels;
    Flat flat;
    int read, title, image;
    (void)module;
    memset(&flat, 0, sizeof flat);
    if (!PyArg_ParseTuple(arguments, "OO!iiOOOKnn", &root, &PyDict_Type, &tag_ids, &title, &image, &block_level, &unseen,
                          &properties, &seed, &most_nodes, &most_levels)
        || (node = node_of(root)) == NULL) {
        return NULL;
    }
    if (array_borrow(&blocks, block_level, 1, 0, "block_level") < 0 || array_borrow(&hidden, unseen, 1, 0, "unseen") < 0
        || array_borrow(&table, properties, 1, 0, "properties") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS) {
        PyErr_SetString(PyExc_ValueError, "properties: expected one byte per code point");
        goto done;
    }
    if (node->type != ELEMENT) {
        result = Py_NewRef(Py_None);
        goto done;
    }
    flat.seed = seed;
    flat.size = size_of(node);
    if (flat.size.nodes > (size_t)most_nodes || flat.size.levels > (size_t)most_levels) {
        result = Py_BuildValue("nn", (Py_ssize_t)flat.size.nodes, (Py_ssize_t)flat.size.levels);
        goto done;
    }
    if (flat.size.elements >= INT32_MAX || flat.size.attributes >= INT32_MAX || flat.size.texts >= INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the tree is too large");
        goto done;
    }
    if (flat_allocate(&flat) < 0) {
        goto done;
    }
    read = read_tree(&flat, node, tag_ids, title, image, &blocks, &hidden, ITEMS(table, uint8_t));
    if (read > 0) {
        result = result_of(&flat);
    }
    else if (read == 0) {
        result = Py_NewRef(Py_None);
    }
done:
    flat_free(&flat);
    array_release(&table);
    array_release(&hidden);
    array_release(&blocks);
    return result;
}
