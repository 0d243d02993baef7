/* What the values of attributes have in them, all questions in one scan: see winnow.page.attributes. */
#include "core.h"

enum { MOST_PARTS = 64 };

typedef struct {
    const unsigned char *begin;
    size_t length;
    uint32_t questions; /* that this part answers */
} Part;

typedef struct {
    Part parts[MOST_PARTS];
    uint64_t beginning[256]; /* parts by their first character, small or capital */
} Sought;

static unsigned char small(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Read as many parts in small letters, with line feeds between them, as there are questions; 0 where there are others. */
static int read_parts(const unsigned char *at, const unsigned char *end, const uint32_t *questions, Py_ssize_t count,
                      Sought *sought)
{
    Py_ssize_t k;
    if (count > MOST_PARTS) {
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
        sought->parts[k].begin = begin;
        sought->parts[k].length = (size_t)(at - begin);
        sought->parts[k].questions = questions[k];
        sought->beginning[*begin] |= (uint64_t)1 << k;
        if (*begin >= 'a' && *begin <= 'z') {
            sought->beginning[*begin & ~0x20] |= (uint64_t)1 << k;
        }
        at += at < end;
    }
    return count > 0 || at == end;
}

/* The parts that answer some questions. */
static uint64_t parts_of(uint32_t questions, const Sought *sought)
{
    uint64_t parts = 0;
    int k;
    for (k = 0; k < MOST_PARTS; k++) {
        parts |= (uint64_t)((sought->parts[k].questions & questions) != 0) << k;
    }
    return parts;
}

/* Those of some questions, answered by some parts, that a value answers. */
static uint32_t answers(const unsigned char *at, const unsigned char *end, uint32_t questions, uint64_t parts,
                        const Sought *sought)
{
    uint32_t found = 0;
    for (; at < end && found != questions; at++) {
        uint64_t possible = sought->beginning[*at] & parts;
        for (; possible; possible &= possible - 1) {
            const Part *part = &sought->parts[__builtin_ctzll(possible)];
            size_t i = 1;
            if (part->length > (size_t)(end - at)) {
                continue;
            }
            while (i < part->length && small(at[i]) == part->begin[i]) {
                i++;
            }
            if (i == part->length) {
                found |= part->questions & questions;
            }
        }
    }
    return found;
}

/* Whether d values lie in the data, with names below `names`. */
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

/* answer_questions(data, begin: int64[d + 1], name_of: int32[d], of_name: uint32[names], any_value, parts,
                    of_part: uint32[parts], marks: uint32[d]) -> bits of all marks

   of_name: bits of the questions that are asked of each name; any_value: bits of those that any value answers;
   parts: in small letters of ASCII, with line feeds between them; of_part: bits of the questions that each answers. */
PyObject *core_answer_questions(PyObject *module, PyObject *arguments)
{
    enum { DATA, BEGIN, NAME_OF, OF_NAME, PARTS, OF_PART, MARKS, ARRAYS };
    static const char *const names[ARRAYS] = {"data", "begin", "name_of", "of_name", "parts", "of_part", "marks"};
    static const int sizes[ARRAYS] = {1, 8, 4, 4, 1, 4, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Sought sought = {0};
    Py_ssize_t d, i;
    unsigned int any_value;
    uint64_t *parts_of_name = NULL;
    uint32_t all = 0;
    (void)module;
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
                       ITEMS(arrays[OF_PART], uint32_t), arrays[OF_PART].length, &sought)) {
        PyErr_SetString(PyExc_ValueError, "values outside the data, or parts that are none");
        goto done;
    }
    if ((parts_of_name = malloc(sizeof *parts_of_name * (size_t)arrays[OF_NAME].length + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < arrays[OF_NAME].length; i++) {
        uint32_t questions = ITEMS(arrays[OF_NAME], uint32_t)[i] & ~any_value;
        parts_of_name[i] = questions ? parts_of(questions, &sought) : 0;
    }
    for (i = 0; i < d; i++) {
        int32_t name = ITEMS(arrays[NAME_OF], int32_t)[i];
        uint32_t questions = ITEMS(arrays[OF_NAME], uint32_t)[name];
        uint32_t found = questions & any_value;
        questions &= ~found;
        if (questions) {
            const unsigned char *data = ITEMS(arrays[DATA], unsigned char);
            const int64_t *bounds = ITEMS(arrays[BEGIN], int64_t) + i;
            found |= answers(data + bounds[0], data + bounds[1], questions, parts_of_name[name], &sought);
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
