/* The nodes that elements of Python stand for: lxml's public C header says where an element holds its node, and selectolax
   where in memory a node of lexbor lies. tamis.page.page refuses parsers whose nodes have another layout. */
#include "nodes.h"

static PyObject *lxml_type, *selectolax_type; /* of elements; kept for good */

/* An attribute of a module; NULL with an exception. */
static PyObject *import(const char *module, const char *name)
{
    SCOPED(release_object) PyObject *imported = PyImport_ImportModule(module);
    return imported ? PyObject_GetAttrString(imported, name) : NULL;
}

int trees_prepare(void)
{
    SCOPED(release_object) PyObject *version = import("lxml.etree", "LIBXML_VERSION"), *size = NULL;
    long major, minor, patch;
    lxml_type = version ? import("lxml.etree", "_Element") : NULL;
    selectolax_type = lxml_type ? import("selectolax.lexbor", "LexborNode") : NULL;
    size = selectolax_type ? PyObject_GetAttrString(lxml_type, "__basicsize__") : NULL;
    if (size != NULL && PyArg_ParseTuple(version, "lll", &major, &minor, &patch)
        && (!PyType_Check(lxml_type) || !PyType_Check(selectolax_type) || major != 2 || minor < 9
            || PyLong_AsSsize_t(size) != (Py_ssize_t)sizeof(LxmlElement))) {
        PyErr_SetString(PyExc_ImportError, "this lxml, libxml2 or selectolax is not one whose trees can be read");
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* The node of lexbor that one of selectolax stands for; NULL with an exception. */
static const LexborNode *lexbor_node(PyObject *node)
{
    SCOPED(release_object) PyObject *address = NULL;
    size_t found = 0;
    if (!PyObject_TypeCheck(node, (PyTypeObject *)selectolax_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a node of selectolax");
    }
    else if ((address = PyObject_GetAttrString(node, "mem_id")) != NULL && (found = PyLong_AsSize_t(address)) == 0) {
        PyErr_SetString(PyExc_ValueError, "the node is no more");
    }
    return PyErr_Occurred() ? NULL : (const LexborNode *)found;
}

int in_tree(PyObject *object, void *to)
{
    Tree *tree = to;
    PyObject *node;
    if (PyTuple_Check(object)) {
        tree->is_lexbor = 1;
        return PyArg_ParseTuple(object, "OO&O&", &node, in_4, &tree->known_tags, in_4, &tree->known_attributes)
            && (tree->root = lexbor_node(node)) != NULL;
    }
    if (!PyObject_TypeCheck(object, (PyTypeObject *)lxml_type)) {
        PyErr_SetString(PyExc_TypeError, "expected an lxml element");
        return 0;
    }
    if ((tree->root = ((LxmlElement *)object)->node) == NULL) {
        PyErr_SetString(PyExc_ValueError, "the element has no node");
        return 0;
    }
    return 1;
}

void tree_release(Tree *tree)
{
    array_release(&tree->known_tags);
    array_release(&tree->known_attributes);
}

/* 0 for names that lexbor does not know. */
static PyObject *known_number(uintptr_t name)
{
    return PyLong_FromSize_t(name < MOST_KNOWN ? name : 0);
}

/* lexbor_numbers(node) -> list of the numbers of the names of an element and of its attributes, 0 for names that lexbor does
                       not know */
PyObject *core_lexbor_numbers(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const LexborElement *element;
    const LexborAttribute *attribute;
    PyObject *node, *numbers;
    int failed;
    if (!PyArg_ParseTuple(arguments, "O", &node) || (element = (const LexborElement *)lexbor_node(node)) == NULL
        || !check_arrays(element->node.type == ELEMENT) || (numbers = PyList_New(0)) == NULL) {
        return NULL;
    }
    failed = append_item(numbers, known_number(element->node.local_name));
    for (attribute = element->first_attribute; attribute != NULL && !failed; attribute = attribute->next) {
        failed = append_item(numbers, known_number(attribute->node.local_name));
    }
    if (failed) {
        Py_CLEAR(numbers);
    }
    return numbers;
}
