/* Evaluates all predicates on the values of attributes in one scan: see winnow.page.attributes. */
#include "core.h"

enum { MAX_PARTS_OF_PREDICATES = 64 };

typedef struct {
    const unsigned char *begin;
    size_t length;
    uint32_t predicates; /* bits of the predicates with this part */
} Part;

typedef struct {
    Part parts[MAX_PARTS_OF_PREDICATES];
    uint64_t first[256], second[256]; /* bits of the parts by their first two characters, in both cases */
} Query;

static unsigned char small(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Set the bit of part k for a character, in both cases. */
static void add_part(uint64_t *of_character, unsigned char c, Py_ssize_t k)
{
    of_character[c] |= (uint64_t)1 << k;
    if (c >= 'a' && c <= 'z') {
        of_character[c & ~0x20] |= (uint64_t)1 << k;
    }
}

/* Split the parts, in lower case and joined by line feeds; 0 unless there are `count`. */
static int read_parts(const unsigned char *at, const unsigned char *end, const uint32_t *predicates, Py_ssize_t count,
                      Query *query)
{
    Py_ssize_t k;
    int c;
    if (count > MAX_PARTS_OF_PREDICATES) {
        return 0;
    }
    for (k = 0; k < count; k++) {
        const unsigned char *begin = at;
        while (at < end && *at != '\n') {
            at++;
        }
        if (at == begin || (at == end) != (k == count - 1)) {
            return 0;
        }
        query->parts[k].begin = begin;
        query->parts[k].length = (size_t)(at - begin);
        query->parts[k].predicates = predicates[k];
        add_part(query->first, *begin, k);
        if (at - begin > 1) {
            add_part(query->second, begin[1], k);
        }
        for (c = 0; c < 256 && at - begin == 1; c++) {
            add_part(query->second, (unsigned char)c, k);
        }
        at += at < end;
    }
    return count > 0 || at == end;
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
static uint32_t matches(const unsigned char *at, const unsigned char *end, uint32_t predicates, uint64_t parts,
                        const Query *query)
{
    uint32_t found = 0;
    for (; at < end && found != predicates; at++) {
        uint64_t possible = query->first[*at] & parts & (at + 1 < end ? query->second[at[1]] : ~(uint64_t)0);
        for (; possible; possible &= possible - 1) {
            const Part *part = &query->parts[__builtin_ctzll(possible)];
            size_t i = 1;
            if (part->length > (size_t)(end - at)) {
                continue;
            }
            while (i < part->length && small(at[i]) == part->begin[i]) {
                i++;
            }
            if (i == part->length) {
                found |= part->predicates & predicates;
            }
        }
    }
    return found;
}

/* Whether the d values lie in the data and their names are below `names`. */
static int are_values(const int32_t *name_of, const int64_t *begin, Py_ssize_t d, Py_ssize_t names, Py_ssize_t length)
{
    Py_ssize_t i;
    for (i = 0; i < d; i++) {
        if (name_of[i] < 0 || name_of[i] >= names || begin[i] < 0 || begin[i + 1] < begin[i] || begin[i + 1] > length) {
            return 0;
        }
    }
    return 1;
}

/* match_predicates(data, begin: int64[d + 1], name_of: int32[d], of_name: uint32[names], any_value, parts,
                    of_part: uint32[parts], marks: uint32[d]) -> bits of all marks

   of_name: bits of the predicates on each name; any_value: bits of those that any value matches;
   parts: in small letters of ASCII, with line feeds between them; of_part: bits of the predicates of each. */
PyObject *core_match_predicates(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    enum { DATA, BEGIN, NAME_OF, OF_NAME, PARTS, OF_PART, MARKS, ARRAYS };
    static const char *const names[ARRAYS] = {"data", "begin", "name_of", "of_name", "parts", "of_part", "marks"};
    static const int sizes[ARRAYS] = {1, 8, 4, 4, 1, 4, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Query query = {0};
    Py_ssize_t d, i;
    unsigned int any_value;
    uint64_t *parts_of_name = NULL;
    uint32_t all = 0;
    if (!PyArg_ParseTuple(arguments, "OOOOIOOO", &objects[DATA], &objects[BEGIN], &objects[NAME_OF], &objects[OF_NAME],
                          &any_value, &objects[PARTS], &objects[OF_PART], &objects[MARKS])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, MARKS) < 0) {
        goto done;
    }
    d = arrays[NAME_OF].length;
    if (arrays[BEGIN].length != d + 1 || arrays[MARKS].length != d
        || !are_values(ITEMS(arrays[NAME_OF], int32_t), ITEMS(arrays[BEGIN], int64_t), d, arrays[OF_NAME].length,
                       arrays[DATA].length)
        || !read_parts(ITEMS(arrays[PARTS], unsigned char), ITEMS(arrays[PARTS], unsigned char) + arrays[PARTS].length,
                       ITEMS(arrays[OF_PART], uint32_t), arrays[OF_PART].length, &query)) {
        PyErr_SetString(PyExc_ValueError, "values outside the data, or parts that are none");
        goto done;
    }
    if ((parts_of_name = malloc(sizeof *parts_of_name * (size_t)arrays[OF_NAME].length + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < arrays[OF_NAME].length; i++) {
        uint32_t predicates = ITEMS(arrays[OF_NAME], uint32_t)[i] & ~any_value;
        parts_of_name[i] = predicates ? parts_of(predicates, &query) : 0;
    }
    for (i = 0; i < d; i++) {
        int32_t name = ITEMS(arrays[NAME_OF], int32_t)[i];
        uint32_t predicates = ITEMS(arrays[OF_NAME], uint32_t)[name];
        uint32_t found = predicates & any_value;
        predicates &= ~found;
        if (predicates) {
            const unsigned char *data = ITEMS(arrays[DATA], unsigned char);
            const int64_t *bounds = ITEMS(arrays[BEGIN], int64_t) + i;
            found |= matches(data + bounds[0], data + bounds[1], predicates, parts_of_name[name], &query);
        }
        ITEMS(arrays[MARKS], uint32_t)[i] = found;
        all |= found;
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromUnsignedLong(all);
done:
    free(parts_of_name);
    arrays_release(arrays, ARRAYS);
    return result;
}
