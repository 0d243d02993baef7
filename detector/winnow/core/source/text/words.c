/* Hashes of the words that blocks begin with, and which of them the title has, for winnow.features.tokens. */
#include "core.h"

#define HASHED_CHARACTERS 160
#define HASHED_WORDS 16
#define OVERLAP_CHARACTERS 400

typedef struct {
    const unsigned char *begin;
    size_t length;
    Py_ssize_t line; /* in which it was met last */
} TitleWord;

typedef struct {
    TitleWord *words;
    size_t count, mask;
    uint32_t *slots; /* 1 + number of the word */
    uint8_t begins[256]; /* whether a word begins with the byte */
} Title;

static size_t slot_of(const Title *title, const unsigned char *word, size_t length)
{
    size_t at = core_crc32(0, word, word + length) & title->mask;
    uint32_t found;
    while ((found = title->slots[at]) != 0
           && (title->words[found - 1].length != length || memcmp(title->words[found - 1].begin, word, length) != 0)) {
        at = (at + 1) & title->mask;
    }
    return at;
}

/* Words with a line feed behind each; 0, or -1 without memory. */
static int read_title(Title *title, const unsigned char *at, Py_ssize_t size)
{
    const unsigned char *end = at + size, *word = at;
    size_t count = 0, slots = 16;
    Py_ssize_t i;
    for (i = 0; i < size; i++) {
        count += at[i] == '\n';
    }
    while (slots < 2 * count) {
        slots *= 2;
    }
    title->mask = slots - 1;
    title->words = malloc((count + 1) * sizeof(TitleWord));
    title->slots = calloc(slots, sizeof(uint32_t));
    if (title->words == NULL || title->slots == NULL) {
        return -1;
    }
    for (; at < end; at++) {
        if (*at == '\n') {
            size_t length = (size_t)(at - word), slot = slot_of(title, word, length);
            if (title->slots[slot] == 0) {
                title->words[title->count].begin = word;
                title->words[title->count].length = length;
                title->words[title->count].line = -1;
                title->slots[slot] = (uint32_t)++title->count;
                title->begins[*word] = 1;
            }
            word = at + 1;
        }
    }
    return 0;
}

typedef struct {
    const uint8_t *properties;
    uint32_t prefix, number;
    Title title;
    uint32_t *hashes; /* HASHED_WORDS for each line */
    size_t hashed;
} Scan;

/* Read one line; `at` is left behind its line feed, or at the end. */
static void scan_line(Scan *scan, const unsigned char **place, const unsigned char *end, Py_ssize_t line, int32_t *words,
                      int32_t *overlap)
{
    const unsigned char *at = *place, *word = at;
    int characters = 0, digits = 1, hashed = 0, hashing = 1;
    int last = scan->title.count ? OVERLAP_CHARACTERS : HASHED_CHARACTERS;
    for (;;) {
        int over = at >= end || *at == '\n' || characters == last;
        int border = over || *at == ' ';
        if (hashing && (border || characters == HASHED_CHARACTERS)) {
            if (at > word) {
                scan->hashes[scan->hashed++] = digits ? scan->number : core_crc32(scan->prefix, word, at);
                hashed++;
            }
            hashing = hashed < HASHED_WORDS && characters < HASHED_CHARACTERS;
        }
        if (border) {
            if (at > word && scan->title.count && scan->title.begins[*word]) {
                uint32_t found = scan->title.slots[slot_of(&scan->title, word, (size_t)(at - word))];
                if (found != 0 && scan->title.words[found - 1].line != line) {
                    scan->title.words[found - 1].line = line;
                    ++*overlap;
                }
            }
            if (over || (!hashing && !scan->title.count)) {
                break;
            }
            word = ++at;
            digits = 1;
        }
        else if (*at < 0x80) {
            digits &= (scan->properties[*at++] & IS_DIGIT) != 0;
        }
        else {
            digits &= (property_of(scan->properties, next_character(&at, end)) & IS_DIGIT) != 0;
        }
        characters++;
    }
    *words = hashed;
    if (at < end && (at = memchr(at, '\n', (size_t)(end - at))) == NULL) {
        at = end;
    }
    *place = at < end ? at + 1 : end;
}

/* leading_words(lines, title, properties, prefix, number, words: int32[m], overlap: int32[m]) -> uint32 hashes

   `lines` are m lines of words with single spaces between them; `title` different words with a line feed behind each. */
PyObject *core_leading_words(PyObject *module, PyObject *arguments)
{
    PyObject *lines, *title, *properties, *words, *overlap, *result = NULL;
    Array table = {0}, counts = {0}, found = {0};
    Scan scan;
    const char *data, *named;
    Py_ssize_t size, named_size;
    unsigned int prefix, number;
    (void)module;
    memset(&scan, 0, sizeof scan);
    if (!PyArg_ParseTuple(arguments, "UUOIIOO", &lines, &title, &properties, &prefix, &number, &words, &overlap)
        || (data = PyUnicode_AsUTF8AndSize(lines, &size)) == NULL
        || (named = PyUnicode_AsUTF8AndSize(title, &named_size)) == NULL) {
        return NULL;
    }
    if (array_borrow(&table, properties, 1, 0, "properties") < 0 || array_borrow(&counts, words, 4, 1, "words") < 0
        || array_borrow(&found, overlap, 4, 1, "overlap") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS || counts.length != found.length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    scan.properties = ITEMS(table, uint8_t);
    scan.prefix = prefix;
    scan.number = number;
    scan.hashes = malloc((size_t)counts.length * HASHED_WORDS * sizeof(uint32_t) + 1);
    if (scan.hashes == NULL || read_title(&scan.title, (const unsigned char *)named, named_size) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    {
        const unsigned char *at = (const unsigned char *)data, *end = at + size;
        Py_ssize_t line;
        for (line = 0; line < counts.length; line++) {
            ITEMS(found, int32_t)[line] = 0;
            scan_line(&scan, &at, end, line, ITEMS(counts, int32_t) + line, ITEMS(found, int32_t) + line);
        }
    }
    Py_END_ALLOW_THREADS
    result = PyByteArray_FromStringAndSize((const char *)scan.hashes, (Py_ssize_t)(scan.hashed * sizeof(uint32_t)));
done:
    free(scan.hashes);
    free(scan.title.words);
    free(scan.title.slots);
    array_release(&found);
    array_release(&counts);
    array_release(&table);
    return result;
}
