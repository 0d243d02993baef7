/* Evaluates all predicates on the values of attributes in one scan: see tamis.page.attributes. */
#include "page.h"
#include <strings.h>

enum {
    MAX_PARTS_OF_PREDICATES = 64, /* bits */
    SIFTED = 3,                   /* characters of a part that are looked up before it is compared: few others pass */
};

typedef struct {
    Span text;
    uint32_t predicates; /* bits of the predicates with it */
} Part;

typedef struct {
    Part parts[MAX_PARTS_OF_PREDICATES];
    uint64_t parts_with[SIFTED][256]; /* bits of the parts with a character at a place, in both cases, or that end before it */
} Query;

/* Read the parts, in lower case and joined by line feeds; 0 unless there are `count`. */
static int read_parts(Span lines, const uint32_t *predicates, Py_ssize_t count, Query *query)
{
    Py_ssize_t k;
    int place, c;
    if (count > MAX_PARTS_OF_PREDICATES) {
        return 0;
    }
    for (k = 0; k < count; k++) {
        Span part = next_line(&lines);
        if (part.begin == part.end) {
            return 0;
        }
        query->parts[k] = (Part){part, predicates[k]};
        for (place = 0; place < SIFTED; place++) {
            int has_ended = part.end - part.begin <= place, wanted = has_ended ? 0 : part.begin[place];
            for (c = has_ended ? 0 : wanted; c < (has_ended ? 256 : wanted + 1); c++) {
                query->parts_with[place][c] |= (uint64_t)1 << k;
            }
            if (wanted >= 'a' && wanted <= 'z') {
                query->parts_with[place][wanted & ~0x20] |= (uint64_t)1 << k;
            }
        }
    }
    return lines.begin == lines.end;
}

/* The parts of some predicates. */
static uint64_t parts_of(uint32_t predicates, const Query *query)
{
    uint64_t parts = 0;
    int k;
    for (k = 0; k < MAX_PARTS_OF_PREDICATES; k++) {
        parts |= (uint64_t)((query->parts[k].predicates & predicates) != 0) << k;
    }
    return parts;
}

/* The predicates, of some with some parts, that a text matches before its last characters, of which SIFTED - 1 can be read. */
static uint32_t matches_before(Span text, const unsigned char *last, uint32_t predicates, uint64_t parts, const Query *query)
{
    const unsigned char *at = text.begin;
    uint32_t found = 0;
    for (; at < last; at++) {
        uint64_t possible = parts & query->parts_with[0][at[0]] & query->parts_with[1][at[1]] & query->parts_with[2][at[2]];
        for (; possible; possible &= possible - 1) {
            const Part *part = &query->parts[__builtin_ctzll(possible)];
            Py_ssize_t length = part->text.end - part->text.begin, i = 1;
            if (length > text.end - at) {
                continue;
            }
            while (i < length && lower_of(at[i]) == part->text.begin[i]) {
                i++;
            }
            if (i == length && (found |= part->predicates & predicates) == predicates) {
                return found;
            }
        }
    }
    return found;
}

/* Those that a value matches. */
static uint32_t matches(Span value, uint32_t predicates, uint64_t parts, const Query *query)
{
    unsigned char end[2 * (SIFTED - 1)] = {0};
    Py_ssize_t size = value.end - value.begin, rest = size < SIFTED - 1 ? size : SIFTED - 1;
    memcpy(end, value.end - rest, (size_t)rest);
    return matches_before(value, value.end - rest, predicates, parts, query)
           | matches_before((Span){end, end + rest}, end + rest, predicates, parts, query);
}

/* Append the index and the value of an attribute to the lists of some predicates; 0, or -1 with an exception set. */
static int put_match(PyObject *lists, uint32_t predicates, int32_t index, Span value)
{
    SCOPED(release_object) PyObject *match = Py_BuildValue("iN", (int)index, decoded(value));
    int failed = match == NULL;
    for (; predicates && !failed; predicates &= predicates - 1) {
        SCOPED(release_object) PyObject *predicate = PyLong_FromLong(__builtin_ctz(predicates));
        PyObject *list = predicate ? PyDict_GetItemWithError(lists, predicate) : NULL; /* borrowed */
        if (predicate != NULL && list == NULL && !PyErr_Occurred() && (list = PyList_New(0)) != NULL) {
            failed = PyDict_SetItem(lists, predicate, list) < 0;
            Py_DECREF(list);
        }
        failed = failed || list == NULL || PyList_Append(list, match) < 0;
    }
    return failed ? -1 : 0;
}

/* match_predicates(values, of_name: uint32[names], parts, of_part: uint32[parts]) -> dict: by predicate a list of the indices
                    and values of the attributes that match it

   of_name: bits of the predicates on each name; parts: in lower case of ASCII, with line feeds between them; of_part:
   bits of the predicates of each. */
PyObject *core_match_predicates(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    AttributeValues values;
    SCOPED(array_release) Array of_name = {0}, of_part = {0};
    SCOPED(free_memory) uint64_t *parts_of_name = NULL;
    SCOPED(free_memory) uint32_t *found = NULL;
    PyObject *lists;
    Query query = {0};
    Span parts;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&", in_values, &values, in_4, &of_name, in_bytes, &parts, in_4, &of_part)
        || !check_arrays(values.names <= of_name.length
                         && read_parts(parts, ITEMS(of_part, uint32_t), of_part.length, &query))) {
        return NULL;
    }
    parts_of_name = malloc(sizeof *parts_of_name * (size_t)of_name.length + 1);
    found = malloc(sizeof *found * (size_t)values.d + 1);
    if (parts_of_name == NULL || found == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < of_name.length; i++) {
        parts_of_name[i] = ITEMS(of_name, uint32_t)[i] ? parts_of(ITEMS(of_name, uint32_t)[i], &query) : 0;
    }
    for (i = 0; i < values.d; i++) {
        int32_t name = values.name_of[i];
        uint32_t sought = ITEMS(of_name, uint32_t)[name];
        found[i] = sought ? matches(value_of(&values, i), sought, parts_of_name[name], &query) : 0;
    }
    Py_END_ALLOW_THREADS
    lists = PyDict_New();
    for (i = 0; i < values.d && lists != NULL; i++) {
        if (found[i] && put_match(lists, found[i], values.first_index[i], value_of(&values, i)) < 0) {
            Py_CLEAR(lists);
        }
    }
    return lists;
}

/* values_of_name(values, name) -> dict: the index of each value of the attributes whose name has this number */
PyObject *core_values_of_name(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    AttributeValues values;
    PyObject *found;
    Py_ssize_t i;
    int name;
    if (!PyArg_ParseTuple(arguments, "O&i", in_values, &values, &name)) {
        return NULL;
    }
    found = PyDict_New();
    for (i = 0; i < values.d && found != NULL; i++) {
        if (values.name_of[i] == name && put_item(found, decoded(value_of(&values, i)), PyLong_FromLong(values.first_index[i])) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

/* A list of the elements, in document order, with an attribute whose first equal one is marked; with a dictionary each with
   what the index of that one stands for. */
static PyObject *elements_with_marked(const AttributeValues *values, const uint8_t *marks, PyObject *by_index)
{
    PyObject *found = PyList_New(0);
    const uint8_t *first_mark = memchr(marks, 1, (size_t)values->a);
    Py_ssize_t i = 0, k = first_mark ? first_mark - marks : values->a; /* no equal one comes before the first */
    for (; k < values->a && found != NULL; k++) {
        SCOPED(release_object) PyObject *index = NULL;
        PyObject *item = NULL;
        if (!marks[values->first[k]]) {
            continue;
        }
        while (values->of_element[i + 1] <= k) {
            i++;
        }
        if (by_index == NULL) {
            item = PyLong_FromSsize_t(i);
        }
        else if ((index = PyLong_FromLong(values->first[k])) != NULL) {
            item = Py_BuildValue("nO", i, PyDict_GetItemWithError(by_index, index));
        }
        if (append_item(found, item) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

/* elements_with(values, indices: list or dict) -> list of elements, or of elements and objects: the elements, in document order,
                 with an attribute whose first equal one is at one of some indices, and what the index stands for */
PyObject *core_elements_with(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    AttributeValues values;
    SCOPED(free_memory) uint8_t *marks = NULL;
    PyObject *indices, *index, *value;
    Py_ssize_t i = 0, k, number;
    int is_list;
    if (!PyArg_ParseTuple(arguments, "O&O", in_values, &values, &indices)
        || !check_arrays((is_list = PyList_Check(indices)) || PyDict_Check(indices))) {
        return NULL;
    }
    if ((marks = calloc((size_t)values.a + 1, 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (k = 0; is_list ? k < PyList_Size(indices) : PyDict_Next(indices, &i, &index, &value); k++) {
        number = PyLong_AsSsize_t(is_list ? PyList_GetItem(indices, k) : index);
        if (PyErr_Occurred() || !check_arrays(number >= 0 && number < values.a)) {
            return NULL;
        }
        marks[number] = 1;
    }
    return elements_with_marked(&values, marks, is_list ? NULL : indices);
}

/* elements_with_attributes(values, names: list) -> list of elements, in document order, with an attribute whose name has one of
                            some numbers */
PyObject *core_elements_with_attributes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    AttributeValues values;
    SCOPED(free_memory) uint8_t *marks = NULL;
    PyObject *names;
    Py_ssize_t i, k;
    if (!PyArg_ParseTuple(arguments, "O&O!", in_values, &values, &PyList_Type, &names)) {
        return NULL;
    }
    if ((marks = calloc((size_t)values.a + 1, 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (k = 0; k < PyList_Size(names); k++) {
        long name = PyLong_AsLong(PyList_GetItem(names, k));
        if (PyErr_Occurred()) {
            return NULL;
        }
        for (i = 0; i < values.d; i++) {
            marks[values.first_index[i]] |= values.name_of[i] == name;
        }
    }
    return elements_with_marked(&values, marks, NULL);
}

/* Whether a value has a word, in any ASCII case or as it is, which is looked for as mere bytes first. */
static int has_word(Span value, Span wanted, int any_case)
{
    Py_ssize_t length = wanted.end - wanted.begin;
    const unsigned char *at = value.begin;
    Span word;
    while (length && !any_case && value.end - at >= length && (at = memchr(at, *wanted.begin, (size_t)(value.end - at - length + 1))) != NULL
           && memcmp(at, wanted.begin, (size_t)length) != 0) {
        at++;
    }
    if (at == NULL || value.end - at < length) {
        return 0;
    }
    while (word = next_word(&value), word.begin < word.end) {
        if (word.end - word.begin == length
            && (any_case ? strncasecmp((const char *)word.begin, (const char *)wanted.begin, (size_t)length)
                         : memcmp(word.begin, wanted.begin, (size_t)length)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* elements_with_word(values, name, word, any_case) -> list of elements, in document order, with a word in an attribute whose name
                      has this number */
PyObject *core_elements_with_word(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    AttributeValues values;
    SCOPED(free_memory) uint8_t *marks = NULL;
    Span wanted;
    Py_ssize_t i;
    int name, any_case;
    if (!PyArg_ParseTuple(arguments, "O&iO&p", in_values, &values, &name, in_text, &wanted, &any_case)) {
        return NULL;
    }
    if ((marks = calloc((size_t)values.a + 1, 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (i = 0; i < values.d; i++) {
        marks[values.first_index[i]] |= values.name_of[i] == name && has_word(value_of(&values, i), wanted, any_case);
    }
    return elements_with_marked(&values, marks, NULL);
}
