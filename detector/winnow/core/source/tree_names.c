/* Names of elements and attributes, by the addresses of their strings. */
#include "flatten.h"

static size_t first_slot(const unsigned char *name, size_t mask)
{
    return ((uintptr_t)name >> 3) * 0x9E3779B97F4A7C15u >> 20 & mask;
}

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
            size_t at = first_slot(old[i].name, count - 1);
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
    size_t at;
    PyObject *full;
    int32_t number;
    if (2 * names->used >= names->mask && names_grow(names) < 0) {
        return -1;
    }
    at = first_slot(name, names->mask);
    while (names->slots[at].name != NULL) {
        if (names->slots[at].name == name && names->slots[at].space == space) {
            return names->slots[at].number;
        }
        at = (at + 1) & names->mask;
    }
    full = full_name(name, space);
    number = full ? assign(flat, full) : -1;
    Py_XDECREF(full);
    if (number >= 0) {
        names->slots[at] = (Name){name, space, number};
        names->used++;
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
    if (number != NULL) {
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
    Py_ssize_t next = PyList_Size(flat->name_list);
    int failed;
    if (known != NULL || PyErr_Occurred()) {
        return known ? (int32_t)PyLong_AsLong(known) : -1;
    }
    number = PyLong_FromSsize_t(next);
    failed = number == NULL || PyDict_SetItem(flat->name_numbers, name, number) < 0
             || PyList_Append(flat->name_list, name) < 0;
    Py_XDECREF(number);
    return failed ? -1 : (int32_t)next;
}

/* The attributes of elements; equal ones are stored once. */

/* A seeded hash of a value, so that no page can provoke collisions. */
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

int read_attributes(Flat *flat, const Node *node)
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
        name = number_of(flat, &flat->attribute_names, attribute->name, attribute->space, number_attribute);
        if (name < 0) {
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
            if (append_bytes(&flat->values, value, length) < 0) {
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
