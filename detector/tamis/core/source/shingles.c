/* The smallest hashes of all windows of words of a text, for tamis.duplicates. */
#include "fingerprints.h"

/* Of UTF-16 codes: tamis.page.text. */
enum { SEPARATOR, WORD, UNSPACED, LOW_SURROGATE };

typedef struct {
    uint64_t base, inverse, power;
    Start here, *begins; /* of the words; room for one per code, and one more */
    Py_ssize_t words;
    unsigned before;     /* kind of the last code */
} Words;

static void add(Words *words, uint32_t code)
{
    unsigned kind = core_tables.word_kinds[code], before = words->before;
    int is_first;
    words->before = kind;
    if (kind == SEPARATOR || (kind == LOW_SURROGATE && before != UNSPACED)) {
        return;
    }
    is_first = kind == UNSPACED || (kind == WORD && before != WORD);
    if (is_first) {
        words->begins[words->words++] = words->here;
    }
    words->here.sum += core_tables.character_tokens[code + (is_first ? CODE_UNITS : 0)] * words->power;
    words->power *= words->base;
    words->here.inverse *= words->inverse;
}

/* Keep a hash if it is among the smallest; returns how many are kept. */
static Py_ssize_t keep(uint64_t hash, uint64_t *kept, Py_ssize_t number, Py_ssize_t most)
{
    Py_ssize_t low = 0, high = number;
    if (number == most && hash >= kept[number - 1]) {
        return number;
    }
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (kept[middle] < hash) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    if (low < number && kept[low] == hash) {
        return number;
    }
    number += number < most;
    memmove(kept + low + 1, kept + low, sizeof(uint64_t) * (size_t)(number - 1 - low));
    kept[low] = hash;
    return number;
}

/* shingles(text, base, inverse, size, smallest: uint64[k]) -> number

   text: in UTF-8. smallest: output, distinct and ascending. */
PyObject *core_shingles(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array smallest = {0};
    SCOPED(free_memory) Start *begins = NULL;
    unsigned long long base, inverse;
    Py_ssize_t size, i, number = 0;
    Words words = {0};
    Span rest;
    if (!PyArg_ParseTuple(arguments, "O&KKnO&", in_bytes, &rest, &base, &inverse, &size, out_8, &smallest)
        || !check_tables(core_tables.character_tokens != NULL && core_tables.word_kinds != NULL)
        || !check_arrays(smallest.length >= 1 && size >= 1)) {
        return NULL;
    }
    if ((begins = malloc(sizeof(Start) * ((size_t)(rest.end - rest.begin) + 1))) == NULL) {
        /* a character has no fewer bytes than codes */
        return PyErr_NoMemory();
    }
    words.base = base;
    words.inverse = inverse;
    words.power = words.here.inverse = 1;
    words.begins = begins;
    Py_BEGIN_ALLOW_THREADS
    while (rest.begin < rest.end) {
        uint32_t code = next_character(&rest.begin, rest.end);
        if (code < CODE_UNITS) {
            add(&words, code);
        }
        else {
            add(&words, first_half(code));
            add(&words, second_half(code));
        }
    }
    begins[words.words] = words.here;
    size = size < words.words ? size : words.words;
    for (i = 0; words.words && i + size <= words.words; i++) {
        uint64_t sum = begins[i + size].sum - begins[i].sum;
        number = keep(mix(sum * begins[i].inverse), ITEMS(smallest, uint64_t), number, smallest.length);
    }
    Py_END_ALLOW_THREADS
    return PyLong_FromSsize_t(number);
}
