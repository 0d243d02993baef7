/* The smallest hashes of all windows of words of a text, for winnow.duplicates. */
#include "fingerprints.h"

/* Of UTF-16 codes: winnow.page.text. */
enum { SEPARATOR, WORD, UNSPACED, LOW_SURROGATE };

/* Where a word begins: the sum of the tokens before it, and the inverse power of its first token. */
typedef struct {
    uint64_t sum, inverse;
} Begin;

typedef struct {
    const uint8_t *kinds;
    const uint64_t *tokens;
    uint64_t base, inverse, sum, power;
    Begin here, *begins; /* of the words; room for one per code, and one more */
    Py_ssize_t words;
    unsigned before;     /* kind of the last code */
} Words;

static void add(Words *words, uint32_t code)
{
    unsigned kind = words->kinds[code], before = words->before;
    int is_first;
    words->before = kind;
    if (kind == SEPARATOR || (kind == LOW_SURROGATE && before != UNSPACED)) {
        return;
    }
    is_first = kind == UNSPACED || (kind == WORD && before != WORD);
    if (is_first) {
        words->begins[words->words++] = words->here;
    }
    words->sum += words->tokens[code + (is_first ? CODES : 0)] * words->power;
    words->power *= words->base;
    words->here.sum = words->sum;
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

/* shingles(text, kinds: uint8[CODES], tokens: uint64[2 * CODES], base, inverse, size, smallest: uint64[k]) -> number

   text: in UTF-8. smallest: output, distinct and ascending. */
PyObject *core_shingles(PyObject *module, PyObject *arguments)
{
    enum { KINDS, TOKENS, SMALLEST, ARRAYS };
    static const char *const names[ARRAYS] = {"kinds", "tokens", "smallest"};
    static const int sizes[ARRAYS] = {1, 8, 8};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    unsigned long long base, inverse;
    const unsigned char *at, *end;
    const char *data;
    Py_ssize_t length, size, i, number = 0;
    Words words = {0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y#OOKKnO", &data, &length, &objects[KINDS], &objects[TOKENS], &base, &inverse, &size,
                          &objects[SMALLEST])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, SMALLEST) < 0) {
        goto done;
    }
    if (arrays[KINDS].length != CODES || arrays[TOKENS].length != 2 * CODES || arrays[SMALLEST].length < 1 || size < 1) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    if ((words.begins = malloc(sizeof(Begin) * ((size_t)length + 1))) == NULL) { /* a character has no fewer bytes than codes */
        PyErr_NoMemory();
        goto done;
    }
    words.kinds = ITEMS(arrays[KINDS], uint8_t);
    words.tokens = ITEMS(arrays[TOKENS], uint64_t);
    words.base = base;
    words.inverse = inverse;
    words.power = words.here.inverse = 1;
    at = (const unsigned char *)data;
    end = at + length;
    Py_BEGIN_ALLOW_THREADS
    while (at < end) {
        uint32_t code = next_character(&at, end);
        if (code < CODES) {
            add(&words, code);
        }
        else {
            add(&words, first_half(code));
            add(&words, second_half(code));
        }
    }
    words.begins[words.words] = words.here;
    size = size < words.words ? size : words.words;
    for (i = 0; words.words && i + size <= words.words; i++) {
        uint64_t sum = words.begins[i + size].sum - words.begins[i].sum;
        number = keep(mix(sum * words.begins[i].inverse), ITEMS(arrays[SMALLEST], uint64_t), number, arrays[SMALLEST].length);
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromSsize_t(number);
done:
    free(words.begins);
    arrays_release(arrays, ARRAYS);
    return result;
}
