/* str.lower of texts whose capitals are those of ASCII, as they are on most pages, whatever quotes and dashes they have. */
#include "core.h"

/* Write a text with the capitals of ASCII in lower case; 0 where it has others. */
static int lower_ascii(unsigned char *to, const unsigned char *from, Py_ssize_t size, const uint8_t *properties)
{
    const unsigned char *at = from, *end = from + size;
    Py_ssize_t i;
    for (i = 0; i < size; i++) {
        to[i] = (unsigned char)(from[i] | ((unsigned char)(from[i] - 'A') < 26) << 5);
    }
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8 && (memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) {
            at += 8;
        }
        else if (*at < 0x80) {
            at++;
        }
        else {
            unsigned property = property_of(properties, next_character(&at, end));
            if ((property & KIND) == UPPER_KIND || property & IS_UPPER_CASE) {
                return 0;
            }
        }
    }
    return 1;
}

/* lower_case(text, properties) -> str, what text.lower() is */
PyObject *core_lower_case(PyObject *module, PyObject *arguments)
{
    PyObject *text, *properties, *result = NULL;
    Array table = {0};
    const char *data;
    unsigned char *lowered = NULL;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "UO", &text, &properties)
        || (data = PyUnicode_AsUTF8AndSize(text, &size)) == NULL) {
        return NULL;
    }
    if (array_borrow(&table, properties, 1, 0, "properties") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    if ((lowered = malloc((size_t)size + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    result = lower_ascii(lowered, (const unsigned char *)data, size, ITEMS(table, uint8_t))
                 ? PyUnicode_DecodeUTF8((const char *)lowered, size, "strict")
                 : PyObject_CallMethod(text, "lower", NULL);
done:
    free(lowered);
    array_release(&table);
    return result;
}
