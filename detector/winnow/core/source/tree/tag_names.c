/* Names of elements and attributes, by the addresses of their strings. */
#include "tree/flat.h"

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

Name *names_find(Names *names, const unsigned char *name, const Namespace *space)
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

PyObject *full_name(const unsigned char *name, const Namespace *space)
{
    if (space == NULL || space->href == NULL) {
        return PyUnicode_FromString((const char *)name);
    }
    return PyUnicode_FromFormat("{%s}%s", (const char *)space->href, (const char *)name);
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

int tag_of(Flat *flat, const Node *node, PyObject *tag_ids, int32_t *tag)
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
