/* The module tamis.core._compiled, for the stable ABI of CPython 3.11 and later, and for free-threaded CPython. */
#include "network.h"

int enlarge(void *pointer, size_t *capacity, size_t wanted)
{
    size_t larger = *capacity ? *capacity : 1024;
    void *memory;
    while (larger < wanted && larger <= SIZE_MAX / 4) {
        larger *= 4;
    }
    if (larger < wanted || (memory = realloc(*(void **)pointer, larger)) == NULL) {
        return -1;
    }
    *(void **)pointer = memory;
    *capacity = larger;
    return 0;
}

int array_borrow(Array *array, PyObject *object, Py_ssize_t size, int writable, const char *name)
{
    int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &array->view, flags) < 0) {
        return -1;
    }
    array->held = 1;
    size = size ? size : array->view.itemsize;
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

void arrays_release(Array *arrays, int count)
{
    while (count-- > 0) {
        array_release(&arrays[count]);
    }
}

int arrays_borrow(PyObject *tuple, Array *arrays, const Py_ssize_t *sizes, Py_ssize_t count)
{
    Py_ssize_t k;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of %zd arrays", count);
        return 0;
    }
    for (k = 0; k < count; k++) {
        if (array_borrow(&arrays[k], PyTuple_GetItem(tuple, k), sizes[k], 0, "an array of a tuple") < 0) {
            return 0;
        }
    }
    return 1;
}

int append_item(PyObject *list, PyObject *object)
{
    int failed = object == NULL || PyList_Append(list, object) < 0;
    Py_XDECREF(object);
    return failed ? -1 : 0;
}

int put_item(PyObject *dict, PyObject *key, PyObject *object)
{
    int failed = key == NULL || object == NULL || PyDict_SetItem(dict, key, object) < 0;
    Py_XDECREF(key);
    Py_XDECREF(object);
    return failed ? -1 : 0;
}

#define CONVERTER(name, size, writable) \
    int name(PyObject *object, void *array) \
    { \
        return array_borrow(array, object, size, writable, "an array") == 0; \
    }
CONVERTER(in_any, 0, 0)
CONVERTER(in_1, 1, 0)
CONVERTER(in_4, 4, 0)
CONVERTER(in_8, 8, 0)
CONVERTER(out_1, 1, 1)
CONVERTER(out_4, 4, 1)
CONVERTER(out_8, 8, 1)

int in_bytes(PyObject *object, void *span)
{
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &data, &size) < 0) {
        return 0;
    }
    *(Span *)span = (Span){(unsigned char *)data, (unsigned char *)data + size};
    return 1;
}

int in_text(PyObject *object, void *span)
{
    Py_ssize_t size;
    const char *data;
    if (PyBytes_Check(object)) {
        return in_bytes(object, span);
    }
    data = PyUnicode_AsUTF8AndSize(object, &size);
    if (data != NULL) {
        *(Span *)span = (Span){(const unsigned char *)data, (const unsigned char *)data + size};
    }
    return data != NULL;
}

int check_arrays(int fit)
{
    if (!fit) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths, or with other numbers, than expected");
    }
    return fit;
}

/* ---- What is set once */

uint64_t core_seed;
Tables core_tables;

int check_tables(int are_set)
{
    if (!are_set) {
        PyErr_SetString(PyExc_RuntimeError, "a table of the core is not set: import tamis first");
    }
    return are_set;
}

/* set_seed(seed), before any call that hashes */
PyObject *core_set_seed(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    unsigned long long seed;
    if (!PyArg_ParseTuple(arguments, "K", &seed)) {
        return NULL;
    }
    core_seed = seed;
    Py_RETURN_NONE;
}

/* set_table(name, array): holds the array for good; one that is set already stays, as others may be reading it */
PyObject *core_set_table(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static struct {
        const char *name;
        const void *pointer; /* to that in core_tables */
        Py_ssize_t size, length;
        Array array;
    } tables[] = {
#define ROW(table, type, count) {.name = #table, .pointer = &core_tables.table, .size = sizeof(type), .length = count},
        TABLES(ROW)
#undef ROW
    };
    const char *name;
    PyObject *object;
    size_t k;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &object)) {
        return NULL;
    }
    for (k = 0; k < sizeof tables / sizeof *tables; k++) {
        Array array = {0};
        Py_ssize_t length = tables[k].length ? tables[k].length : core_tables.tags;
        if (strcmp(tables[k].name, name) != 0) {
            continue;
        }
        if (array_borrow(&array, object, tables[k].size, 0, name) < 0 || !check_arrays(!length || array.length == length)) {
            array_release(&array);
            return NULL;
        }
        if (tables[k].array.held) {
            array_release(&array);
            Py_RETURN_NONE;
        }
        core_tables.tags = tables[k].length ? core_tables.tags : array.length;
        tables[k].array = array;
        *(const void **)tables[k].pointer = array.view.buf;
        Py_RETURN_NONE;
    }
    PyErr_Format(PyExc_ValueError, "the core has no table %s", name);
    return NULL;
}

#define METHOD(name, description) {#name, core_##name, METH_VARARGS, description},
static PyMethodDef methods[] = {FUNCTIONS(METHOD){NULL, NULL, 0, NULL}};

static int execute(PyObject *module)
{
    core_keep_memory();
    core_prepare_crc32();
    core_prepare_features();
    core_prepare_network();
    return PyModule_AddIntConstant(module, "VERSION", CORE_VERSION) < 0 || PyModule_AddIntMacro(module, LARGEST_INPUT) < 0
                   || core_name_items(module) < 0 || trees_prepare() < 0 ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* what calls share is written before the first of them */
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tamis.core._compiled",
    .m_doc = "Scans of pages in C.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
