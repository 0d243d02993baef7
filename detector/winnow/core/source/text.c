/* Scans over the text of a page, for winnow.page.text and Page.block_texts. */
#include "core.h"

enum { SPACE, UNSPACED, LETTER, UPPER, DIGIT, COMMA, SENTENCE_END, OTHER, KINDS };

/* Rows of the result, the fields of TextStatistics. */
enum { CHARACTERS, WORDS, LETTERS, DIGITS, UPPER_CASE, COMMAS, SENTENCE_ENDS, SYMBOLS, ROWS };

static void count_kinds(const unsigned char *at, const unsigned char *end, const int64_t *offset, Py_ssize_t runs,
                        const uint8_t *properties, int64_t *totals)
{
    int64_t kinds[KINDS] = {0}, words = 0;
    Py_ssize_t r, row = runs + 1;
    for (r = 0; r < runs; r++) {
        int64_t left = offset[r + 1] - offset[r];
        unsigned before = SPACE;
        int64_t *to = totals + r + 1;
        while (left-- > 0 && at < end) {
            unsigned kind = *at < 0x80 ? properties[*at++] & KIND : property_of(properties, next_character(&at, end)) & KIND;
            words += before == SPACE && kind >= LETTER;
            kinds[kind]++;
            before = kind;
        }
        to[CHARACTERS * row] = kinds[UNSPACED] + kinds[LETTER] + kinds[UPPER] + kinds[DIGIT] + kinds[COMMA]
            + kinds[SENTENCE_END] + kinds[OTHER];
        to[WORDS * row] = words + kinds[UNSPACED] / 2;
        to[LETTERS * row] = kinds[UNSPACED] + kinds[LETTER] + kinds[UPPER];
        to[DIGITS * row] = kinds[DIGIT];
        to[UPPER_CASE * row] = kinds[UPPER];
        to[COMMAS * row] = kinds[COMMA];
        to[SENTENCE_ENDS * row] = kinds[SENTENCE_END];
        to[SYMBOLS * row] = kinds[OTHER];
    }
}

/* count_kinds(text, run_offset: int64[r + 1], properties, totals: int64[8, r + 1]) */
PyObject *core_count_kinds(PyObject *module, PyObject *arguments)
{
    PyObject *text, *offset, *properties, *totals, *result = NULL;
    Array offsets = {0}, table = {0}, to = {0};
    const char *data;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "UOOO", &text, &offset, &properties, &totals)
        || (data = PyUnicode_AsUTF8AndSize(text, &size)) == NULL) {
        return NULL;
    }
    if (array_borrow(&offsets, offset, 8, 0, "run_offset") < 0 || array_borrow(&table, properties, 1, 0, "properties") < 0
        || array_borrow(&to, totals, 8, 1, "totals") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS || offsets.length < 1 || to.length != ROWS * offsets.length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    count_kinds((const unsigned char *)data, (const unsigned char *)data + size, ITEMS(offsets, int64_t),
                offsets.length - 1, ITEMS(table, uint8_t), ITEMS(to, int64_t));
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    array_release(&to);
    array_release(&table);
    array_release(&offsets);
    return result;
}

/* Write the words between two places with a space between them and a line feed behind: 0, or -1 without memory. */
static int write_line(char **out, const unsigned char **place, int64_t characters, const unsigned char *end,
                      const uint8_t *properties)
{
    const unsigned char *at = *place, *word = NULL;
    char *to = *out;
    int written = 0;
    while (characters-- > 0 && at < end) {
        const unsigned char *begin = at;
        if (property_of(properties, *at < 0x80 ? *at++ : next_character(&at, end)) & WHITE_SPACE) {
            if (word != NULL) {
                memcpy(to, word, (size_t)(begin - word));
                to += begin - word;
                word = NULL;
            }
        }
        else if (word == NULL) {
            if (written++) {
                *to++ = ' ';
            }
            word = begin;
        }
    }
    if (word != NULL) {
        memcpy(to, word, (size_t)(at - word));
        to += at - word;
    }
    *to++ = '\n';
    *place = at;
    *out = to;
    return 0;
}

/* Returns the length written, or -1 where the blocks do not follow each other. `to` holds size + blocks bytes. */
static Py_ssize_t write_blocks(char *to, const unsigned char *at, Py_ssize_t size, const Array *offsets,
                               const Array *begins, const Array *ends, const uint8_t *properties)
{
    const unsigned char *end = at + size;
    const int64_t *offset = ITEMS(*offsets, int64_t);
    char *start = to;
    int64_t place = 0;
    Py_ssize_t b;
    for (b = 0; b < begins->length; b++) {
        int64_t first = ITEMS(*begins, int32_t)[b], behind = ITEMS(*ends, int32_t)[b];
        if (first < 0 || behind < first || behind >= offsets->length || offset[first] < place
            || offset[behind] < offset[first]) {
            return -1;
        }
        for (; place < offset[first] && at < end; place++) {
            next_character(&at, end);
        }
        write_line(&to, &at, offset[behind] - offset[first], end, properties);
        place = offset[behind];
    }
    return to - start;
}

/* block_texts(text, run_offset: int64[r + 1], begin: int32[m], end: int32[m], properties) -> str, a line per block */
PyObject *core_block_texts(PyObject *module, PyObject *arguments)
{
    PyObject *text, *offset, *begin, *end, *properties, *result = NULL;
    Array offsets = {0}, begins = {0}, ends = {0}, table = {0};
    const char *data;
    char *written = NULL;
    Py_ssize_t size, length;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "UOOOO", &text, &offset, &begin, &end, &properties)
        || (data = PyUnicode_AsUTF8AndSize(text, &size)) == NULL) {
        return NULL;
    }
    if (array_borrow(&offsets, offset, 8, 0, "run_offset") < 0 || array_borrow(&begins, begin, 4, 0, "begin") < 0
        || array_borrow(&ends, end, 4, 0, "end") < 0 || array_borrow(&table, properties, 1, 0, "properties") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS || begins.length != ends.length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    if ((written = malloc((size_t)size + 2 * (size_t)begins.length + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    length = write_blocks(written, (const unsigned char *)data, size, &offsets, &begins, &ends, ITEMS(table, uint8_t));
    Py_END_ALLOW_THREADS
    if (length < 0) {
        PyErr_SetString(PyExc_ValueError, "blocks do not follow each other");
        goto done;
    }
    result = PyUnicode_DecodeUTF8(written, length ? length - 1 : 0, "strict"); /* without the last line feed */
done:
    free(written);
    array_release(&table);
    array_release(&ends);
    array_release(&begins);
    array_release(&offsets);
    return result;
}

/* str.lower without Python's tables, for texts whose only capitals are ASCII, as on most pages. */

/* Write a text in lower case; 0 if it has other capitals than those of ASCII. */
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

/* lower_case(text, properties) -> str, equal to text.lower() */
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

/* The checksum of zlib.crc32; linking zlib is not worth it. */

static uint32_t table[256];

void core_prepare_crc32(void)
{
    uint32_t i;
    for (i = 0; i < 256; i++) {
        uint32_t crc = i;
        int bit;
        for (bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        }
        table[i] = crc;
    }
}

uint32_t core_crc32(uint32_t before, const unsigned char *at, const unsigned char *end)
{
    uint32_t crc = ~before;
    while (at < end) {
        crc = crc >> 8 ^ table[(crc ^ *at++) & 0xFF];
    }
    return ~crc;
}
