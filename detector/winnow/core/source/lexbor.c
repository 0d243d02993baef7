/* The tree of lexbor, an HTML5 parser, as nodes like those of libxml2, which flatten.c reads.

   selectolax, whose parser it is in, says where the node of an element lies in memory. The layout of nodes is that of
   lexbor 2 and 3; winnow.page.html5 refuses what it does not know. The parser belongs to the caller alone: no other thread
   changes its tree. */
#include "flatten.h"

enum {
    SHORT_NAME = 16,   /* longer names are not within their entry */
    MOST_KNOWN = 4096, /* a greater number is an address */
    CHUNK = 512,       /* nodes that memory is asked for at once */
};

typedef struct LexborNode {
    void *events;
    uintptr_t local_name; /* number of a name that lexbor knows, or the address of its entry */
    uintptr_t prefix, space;
    void *document;
    struct LexborNode *next, *previous, *parent, *first_child, *last_child;
    void *user;
    int type;
} LexborNode;

typedef struct {
    const unsigned char *data;
    size_t length;
} LexborString;

typedef struct {
    LexborNode node;
    LexborString text;
} LexborText;

typedef struct LexborAttribute {
    LexborNode node;
    uintptr_t upper_name, qualified_name;
    const LexborString *value;
    void *owner;
    struct LexborAttribute *next;
} LexborAttribute;

typedef struct {
    LexborNode node;
    uintptr_t upper_name, qualified_name;
    const LexborString *is_value;
    const LexborAttribute *first_attribute, *last_attribute, *id, *classes;
    void *style, *list;
    int condition, state;
    const LexborNode *content; /* of a template */
} LexborElement;

typedef struct {
    union {
        const unsigned char *at;
        unsigned char here[SHORT_NAME + 1];
    } name;
    size_t length;
} LexborName;

struct Chunk {
    struct Chunk *before;
    size_t used;
    Node nodes[CHUNK];
};

static PyObject *node_type; /* of selectolax */

int lexbor_prepare(void)
{
    PyObject *lexbor = PyImport_ImportModule("selectolax.lexbor");
    node_type = lexbor ? PyObject_GetAttrString(lexbor, "LexborNode") : NULL; /* kept for good */
    Py_XDECREF(lexbor);
    if (node_type != NULL && !PyType_Check(node_type)) {
        PyErr_SetString(PyExc_ImportError, "this selectolax is not one whose trees can be read");
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* The address of the node behind selectolax's; 0 with an exception. */
static uintptr_t address_of(PyObject *node)
{
    PyObject *address = NULL;
    size_t found = 0;
    if (!PyObject_TypeCheck(node, (PyTypeObject *)node_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a node of selectolax");
    }
    else if ((address = PyObject_GetAttrString(node, "mem_id")) != NULL && (found = PyLong_AsSize_t(address)) == 0) {
        PyErr_SetString(PyExc_ValueError, "the node is no more");
    }
    Py_XDECREF(address);
    return PyErr_Occurred() ? 0 : found;
}

void chunks_free(Chunk **chunks)
{
    while (*chunks != NULL) {
        Chunk *before = (*chunks)->before;
        free(*chunks);
        *chunks = before;
    }
}

/* A new node, zeroed; NULL with an exception. */
static Node *new_node(Chunk **chunks, int type)
{
    Node *node;
    if (*chunks == NULL || (*chunks)->used == CHUNK) {
        Chunk *chunk = malloc(sizeof *chunk);
        if (chunk == NULL) {
            return (Node *)PyErr_NoMemory();
        }
        chunk->before = *chunks;
        chunk->used = 0;
        *chunks = chunk;
    }
    node = &(*chunks)->nodes[(*chunks)->used++];
    memset(node, 0, sizeof *node);
    node->type = type;
    return node;
}

/* A name by its number or address; NULL for one that is not among the known ones. */
static const unsigned char *name_of(uintptr_t name, PyObject *known)
{
    const LexborName *entry = (const LexborName *)name;
    PyObject *bytes;
    if (name >= (uintptr_t)PyList_Size(known)) {
        return name < MOST_KNOWN ? NULL : entry->length > SHORT_NAME ? entry->name.at : entry->name.here;
    }
    bytes = PyList_GetItem(known, (Py_ssize_t)name);
    return bytes != NULL && PyBytes_Check(bytes) && PyBytes_Size(bytes) ? (const unsigned char *)PyBytes_AsString(bytes) : NULL;
}

int read_lexbor_attributes(Flat *flat, const void *element)
{
    const LexborAttribute *attribute = ((const LexborElement *)element)->first_attribute;
    for (; attribute != NULL; attribute = attribute->next) {
        uintptr_t number = attribute->node.prefix ? attribute->qualified_name : attribute->node.local_name; /* xlink:href */
        const unsigned char *name = name_of(number, flat->known_attributes);
        LexborString value = {(const unsigned char *)"", 0};
        if (name == NULL) {
            return 0;
        }
        if (attribute->value != NULL && attribute->value->data != NULL) {
            value = *attribute->value;
        }
        if (add_attribute(flat, name, NULL, value.data, value.length) < 0) {
            return -1;
        }
    }
    return 1;
}

/* Count the attributes of an element; whether it is a template that attaches its contents to the page follows. */
static size_t count_attributes(const LexborElement *element, int *is_shadow_root)
{
    const LexborAttribute *attribute = element->first_attribute;
    size_t count = 0;
    for (*is_shadow_root = 0; attribute != NULL; attribute = attribute->next, count++) {
        const LexborName *entry = (const LexborName *)attribute->node.local_name; /* lexbor knows neither name */
        *is_shadow_root |= attribute->node.local_name >= MOST_KNOWN && entry->length <= SHORT_NAME
            && strncmp((const char *)entry->name.here, "shadowroot", 10) == 0
            && (entry->length == 10 || strcmp((const char *)entry->name.here + 10, "mode") == 0);
    }
    return count;
}

int copy_lexbor(const Node **root, Size *size, PyObject *node_of_root, PyObject *known_tags, Chunk **chunks)
{
    const LexborNode *from = (const LexborNode *)address_of(node_of_root), *at = from;
    uintptr_t html = from ? from->space : 0; /* the name space of HTML, in which templates have contents */
    size_t depth = 1;
    Node *parent = NULL;
    if (from == NULL) {
        return -1;
    }
    for (;;) {
        const LexborNode *children = NULL;
        int is_element = at->type == ELEMENT, is_text = at->type == TEXT || at->type == CDATA;
        Node *node = new_node(chunks, is_element ? ELEMENT : is_text ? TEXT : COMMENT);
        if (node == NULL) {
            return -1;
        }
        if (is_element) {
            const LexborElement *element = (const LexborElement *)at;
            int is_shadow_root;
            if ((node->name = name_of(at->local_name, known_tags)) == NULL) {
                return 0;
            }
            size->elements++;
            size->levels = depth > size->levels ? depth : size->levels;
            size->attributes += count_attributes(element, &is_shadow_root);
            children = at->first_child;
            if (at->space == html && !strcmp((const char *)node->name, "template")) {
                children = children == NULL && element->content ? element->content->first_child : children;
                node->name = is_shadow_root ? (const unsigned char *)"div" : node->name;
            }
        }
        else if (is_text) {
            node->content = ((const LexborText *)at)->text.data;
        }
        size->nodes += !is_text;
        size->texts += (size_t)is_text;
        node->private = (void *)at;
        node->parent = parent;
        if (parent == NULL) {
            *root = node;
        }
        else if (parent->last == NULL) {
            parent->children = parent->last = node;
        }
        else {
            parent->last = parent->last->next = node;
        }
        if (children != NULL) {
            parent = node;
            at = children;
            depth++;
            continue;
        }
        while (at != from && at->next == NULL) {
            at = parent->private;
            parent = parent->parent;
            depth--;
        }
        if (at == from) {
            return 1;
        }
        at = at->next;
    }
}

/* A number for a name that lexbor knows, 0 for others. */
static PyObject *number_of_name(uintptr_t name)
{
    return PyLong_FromSize_t(name < MOST_KNOWN ? name : 0);
}

/* lexbor_numbers(node) -> list of the numbers of the names of an element and of its attributes, 0 for names that lexbor does
                       not know */
PyObject *core_lexbor_numbers(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const LexborElement *element;
    const LexborAttribute *attribute;
    PyObject *node, *numbers, *number;
    int failed = 0;
    if (!PyArg_ParseTuple(arguments, "O", &node) || (element = (const LexborElement *)address_of(node)) == NULL
        || !check_arrays(element->node.type == ELEMENT) || (numbers = PyList_New(0)) == NULL) {
        return NULL;
    }
    attribute = element->first_attribute;
    number = number_of_name(element->node.local_name);
    while (!failed) {
        failed = number == NULL || PyList_Append(numbers, number) < 0;
        Py_XDECREF(number);
        if (attribute == NULL || failed) {
            break;
        }
        number = number_of_name(attribute->node.local_name);
        attribute = attribute->next;
    }
    if (failed) {
        Py_DECREF(numbers);
        return NULL;
    }
    return numbers;
}
