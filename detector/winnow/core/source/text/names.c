/* Parts of names of elements, for winnow.features.tokens. What is not ASCII is left to Python, which knows letters and
   digits of all scripts. */
#include "core.h"

#define MAX_PARTS 12

static int is_ascii(const unsigned char *at, const unsigned char *end)
{
    unsigned char all = 0;
    while (at < end) {
        all |= *at++;
    }
    return all < 0x80;
}

#define IS_LOWER(c) ((c) >= 'a' && (c) <= 'z')
#define IS_UPPER(c) ((c) >= 'A' && (c) <= 'Z')
#define IS_NUMBER(c) ((c) >= '0' && (c) <= '9')

/* Hashes of the different ones of the first 12 parts of a name; returns how many. */
static int divide(const unsigned char *at, const unsigned char *end, uint32_t seed, uint32_t number, uint32_t *hashes)
{
    int parts = 0, different = 0, i;
    while (at < end && parts < MAX_PARTS) {
        const unsigned char *begin = at;
        uint32_t hash;
        if (IS_NUMBER(*at)) {
            while (at < end && IS_NUMBER(*at)) {
                at++;
            }
            hash = number;
        }
        else if (IS_LOWER(*at) || IS_UPPER(*at)) {
            unsigned char lower[64];
            uint32_t crc = seed;
            at++;
            if (IS_LOWER(*begin) || (at < end && IS_LOWER(*at))) { /* one capital at most, and small letters */
                while (at < end && IS_LOWER(*at)) {
                    at++;
                }
            }
            else {
                while (at < end && IS_UPPER(*at)) {
                    at++;
                }
            }
            while (begin < at) {
                size_t length = 0;
                while (begin < at && length < sizeof lower) {
                    lower[length++] = *begin++ | 0x20;
                }
                crc = core_crc32(crc, lower, lower + length);
            }
            hash = crc;
        }
        else {
            at++;
            continue;
        }
        parts++;
        for (i = 0; i < different && hashes[i] != hash; i++) {
        }
        if (i == different) {
            hashes[different++] = hash;
        }
    }
    return different;
}

/* The chosen values: their bytes, or -1 where one lies outside the data. */
static int all_inside(const Array *begins, const Array *chosen, Py_ssize_t size)
{
    Py_ssize_t i;
    for (i = 0; i < chosen->length; i++) {
        int64_t at = ITEMS(*chosen, int64_t)[i];
        if (at < 0 || at >= begins->length - 1 || ITEMS(*begins, int64_t)[at] < 0
            || ITEMS(*begins, int64_t)[at + 1] < ITEMS(*begins, int64_t)[at] || ITEMS(*begins, int64_t)[at + 1] > size) {
            return 0;
        }
    }
    return 1;
}

/* name_parts(data, begin: int64[d + 1], chosen: int64[k], seed, number, parts: int32[k]) -> uint32 hashes

   parts: how many of them each chosen value has, -1 where it is not ASCII. */
PyObject *core_name_parts(PyObject *module, PyObject *arguments)
{
    PyObject *data, *begin, *chosen, *parts, *result = NULL;
    Array bytes = {0}, begins = {0}, choice = {0}, counts = {0};
    unsigned int seed, number;
    uint32_t *hashes = NULL;
    size_t used = 0;
    Py_ssize_t i;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOIIO", &data, &begin, &chosen, &seed, &number, &parts)) {
        return NULL;
    }
    if (array_borrow(&bytes, data, 1, 0, "data") < 0 || array_borrow(&begins, begin, 8, 0, "begin") < 0
        || array_borrow(&choice, chosen, 8, 0, "chosen") < 0 || array_borrow(&counts, parts, 4, 1, "parts") < 0) {
        goto done;
    }
    if (counts.length != choice.length || !all_inside(&begins, &choice, bytes.length)) {
        PyErr_SetString(PyExc_ValueError, "values outside the data");
        goto done;
    }
    if ((hashes = malloc(sizeof(uint32_t) * MAX_PARTS * (size_t)choice.length + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < choice.length; i++) {
        const int64_t *bounds = ITEMS(begins, int64_t) + ITEMS(choice, int64_t)[i];
        const unsigned char *at = ITEMS(bytes, unsigned char) + bounds[0], *end = ITEMS(bytes, unsigned char) + bounds[1];
        int found = is_ascii(at, end) ? divide(at, end, seed, number, hashes + used) : -1;
        ITEMS(counts, int32_t)[i] = found;
        used += found > 0 ? (size_t)found : 0;
    }
    Py_END_ALLOW_THREADS
    result = PyByteArray_FromStringAndSize((const char *)hashes, (Py_ssize_t)(used * sizeof(uint32_t)));
done:
    free(hashes);
    array_release(&counts);
    array_release(&choice);
    array_release(&begins);
    array_release(&bytes);
    return result;
}
