/* Names of elements and attributes, by the addresses of their strings. */
#include "flatten.h"

PyObject *full_name(const unsigned char *name, const Namespace *space)
{
    if (space == NULL || space->href == NULL) {
        return PyUnicode_FromString((const char *)name);
    }
    return PyUnicode_FromFormat("{%s}%s", (const char *)space->href, (const char *)name);
}

/* The number of a name; `assign` gives a new one its number, -1 with an exception. */
static int32_t number_of(Flat *flat, Names *names, const unsigned char *name, const Namespace *space,
                         int32_t (*assign)(Flat *, PyObject *))
{
    size_t at = mixed((uintptr_t)name, flat->seed) & names->mask;
    PyObject *full;
    int32_t number;
    for (; names->slots[at] != 0; at = (at + 1) & names->mask) {
        const Name *known = &names->known[names->slots[at] - 1];
        if (known->name == name && known->space == space) {
            return known->number;
        }
    }
    full = full_name(name, space);
    number = full ? assign(flat, full) : -1;
    Py_XDECREF(full);
    if (number >= 0) {
        names->known[names->used] = (Name){name, space, number};
        names->slots[at] = ++names->used;
    }
    return number;
}

/* Number of a name in tag_ids, of its local part in lower case where it is not there itself, or 0. No Python code runs, so
   no other thread can come in between. */
static int32_t find_tag_id(Flat *flat, PyObject *name)
{
    PyObject *number = PyDict_GetItemWithError(flat->tag_ids, name), *parts = NULL, *lower = NULL;
    int32_t id = 0;
    if (number == NULL && !PyErr_Occurred()) {
        parts = PyObject_CallMethod(name, "rpartition", "s", "}");
        lower = parts ? PyObject_CallMethod(PyTuple_GetItem(parts, 2), "lower", NULL) : NULL;
        number = lower ? PyDict_GetItemWithError(flat->tag_ids, lower) : NULL;
    }
    if (number != NULL && PySet_Add(flat->tags_found, number) == 0) {
        id = (int32_t)PyLong_AsLong(number);
    }
    Py_XDECREF(lower);
    Py_XDECREF(parts);
    return PyErr_Occurred() ? -1 : id;
}

int32_t tag_of(Flat *flat, const Node *node)
{
    return number_of(flat, &flat->tags, node->name, node->space, find_tag_id);
}

/* Number of an attribute's name, by its text. */
static int32_t number_attribute(Flat *flat, PyObject *name)
{
    PyObject *known = PyDict_GetItemWithError(flat->name_numbers, name), *number;
    Py_ssize_t next = PyDict_Size(flat->name_numbers);
    int failed;
    if (known != NULL || PyErr_Occurred()) {
        return known ? (int32_t)PyLong_AsLong(known) : -1;
    }
    number = PyLong_FromSsize_t(next);
    failed = number == NULL || PyDict_SetItem(flat->name_numbers, name, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : (int32_t)next;
}

/* The attributes of elements; equal ones are stored once. */

int add_attribute(Flat *flat, const unsigned char *of, const Namespace *space, const unsigned char *value, size_t length)
{
    size_t at;
    uint32_t found;
    int32_t name;
    if (flat->a >= flat->size.attributes) {
        PyErr_SetString(PyExc_RuntimeError, "the tree has changed while it was read");
        return -1;
    }
    if ((name = number_of(flat, &flat->attribute_names, of, space, number_attribute)) < 0) {
        return -1;
    }
    at = hash_of((Span){value, value + length}, flat->seed + (uint64_t)name) & flat->table_mask;
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
        if (append_bytes(&flat->values, value, length) < 0) {
            return -1;
        }
        flat->name_of[flat->d] = name;
        flat->place[flat->d] = (int32_t)flat->a;
        flat->value_begin[++flat->d] = (int64_t)flat->values.used;
        found = flat->table[at] = (uint32_t)flat->d;
    }
    flat->first[flat->a++] = flat->place[found - 1];
    return 0;
}

int read_attributes(Flat *flat, const Node *node)
{
    const Node *attribute;
    for (attribute = node->properties; attribute != NULL; attribute = attribute->next) {
        const Node *text = attribute->children;
        const unsigned char *value = (const unsigned char *)"";
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
        if (add_attribute(flat, attribute->name, attribute->space, value, strlen((const char *)value)) < 0) {
            return -1;
        }
    }
    return flat->known_attributes ? read_lexbor_attributes(flat, node->private) : 1;
}
