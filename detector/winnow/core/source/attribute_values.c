/* Evaluates all predicates on the values of attributes in one scan: see winnow.page.attributes. */
#include "page.h"

enum { MAX_PARTS_OF_PREDICATES = 64 };

typedef struct {
    Span text;
    uint32_t predicates; /* bits of the predicates with it */
} Part;

typedef struct {
    Part parts[MAX_PARTS_OF_PREDICATES];
    uint64_t first[256], second[256]; /* bits of the parts by their first two characters, in both cases */
} Query;

/* Set the bit of part k for a character, in both cases. */
static void add_part(uint64_t *of_character, unsigned char c, Py_ssize_t k)
{
    of_character[c] |= (uint64_t)1 << k;
    if (c >= 'a' && c <= 'z') {
        of_character[c & ~0x20] |= (uint64_t)1 << k;
    }
}

/* Read the parts, in lower case and joined by line feeds; 0 unless there are `count`. */
static int read_parts(Span lines, const uint32_t *predicates, Py_ssize_t count, Query *query)
{
    Py_ssize_t k;
    int c;
    if (count > MAX_PARTS_OF_PREDICATES) {
        return 0;
    }
    for (k = 0; k < count; k++) {
        Span part = next_line(&lines);
        if (part.begin == part.end) {
            return 0;
        }
        query->parts[k] = (Part){part, predicates[k]};
        add_part(query->first, *part.begin, k);
        if (part.end - part.begin > 1) {
            add_part(query->second, part.begin[1], k);
        }
        for (c = 0; c < 256 && part.end - part.begin == 1; c++) {
            add_part(query->second, (unsigned char)c, k);
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

/* The predicates, of some with some parts, that a value matches. */
static uint32_t matches(Span value, uint32_t predicates, uint64_t parts, const Query *query)
{
    const unsigned char *at = value.begin;
    uint32_t found = 0;
    for (; at < value.end && found != predicates; at++) {
        uint64_t possible = query->first[*at] & parts & (at + 1 < value.end ? query->second[at[1]] : ~(uint64_t)0);
        for (; possible; possible &= possible - 1) {
            const Part *part = &query->parts[__builtin_ctzll(possible)];
            Py_ssize_t length = part->text.end - part->text.begin, i = 1;
            if (length > value.end - at) {
                continue;
            }
            while (i < length && lower_of(at[i]) == part->text.begin[i]) {
                i++;
            }
            if (i == length) {
                found |= part->predicates & predicates;
            }
        }
    }
    return found;
}

/* match_predicates(values, of_name: uint32[names], any_value, parts, of_part: uint32[parts], marks: uint32[d]) -> bits of
                    all marks

   of_name: bits of the predicates on each name; any_value: bits of those that any value matches;
   parts: in small letters of ASCII, with line feeds between them; of_part: bits of the predicates of each. */
PyObject *core_match_predicates(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array of_name = {0}, of_part = {0}, marks = {0};
    SCOPED(free_memory) uint64_t *parts_of_name = NULL;
    Query query = {0};
    Span parts;
    Py_ssize_t i;
    unsigned int any_value;
    uint32_t all = 0;
    if (!PyArg_ParseTuple(arguments, "O&O&IO&O&O&", in_values, &values, in_4, &of_name, &any_value, in_bytes, &parts, in_4,
                          &of_part, out_4, &marks)
        || !check_arrays(values.names <= of_name.length && marks.length == values.d
                         && read_parts(parts, ITEMS(of_part, uint32_t), of_part.length, &query))) {
        return NULL;
    }
    if ((parts_of_name = malloc(sizeof *parts_of_name * (size_t)of_name.length + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < of_name.length; i++) {
        uint32_t predicates = ITEMS(of_name, uint32_t)[i] & ~any_value;
        parts_of_name[i] = predicates ? parts_of(predicates, &query) : 0;
    }
    for (i = 0; i < values.d; i++) {
        int32_t name = values.name_of[i];
        uint32_t predicates = ITEMS(of_name, uint32_t)[name];
        uint32_t found = predicates & any_value;
        predicates &= ~found;
        if (predicates) {
            found |= matches(value_of(&values, i), predicates, parts_of_name[name], &query);
        }
        ITEMS(marks, uint32_t)[i] = found;
        all |= found;
    }
    Py_END_ALLOW_THREADS
    return PyLong_FromUnsignedLong(all);
}
