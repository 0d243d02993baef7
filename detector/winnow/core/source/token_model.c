/* Words and names as hashes, and the features that tables of log-odds make of them, for winnow.features. */
#include "block_features.h"

/* ---- The leading words of blocks, and which of them the title has */

#define HASHED_CHARACTERS 160
#define OVERLAP_CHARACTERS 400
#define MAX_TITLE_WORDS 64

static const unsigned char word_prefix[] = "word:", name_prefix[] = "name:"; /* of what is hashed; five characters */
#define PREFIX(prefix) core_crc32(0, prefix, prefix + 5)

/* The entry that a hash has in a table. */
#define ENTRY(hash) ((hash) & (TABLE_SIZE - 1))

/* The hash of a number: all are one word, and one part of a name. */
static uint32_t hash_number(uint32_t prefix)
{
    static const unsigned char number = '#';
    return core_crc32(prefix, &number, &number + 1);
}

typedef struct {
    Span words[MAX_TITLE_WORDS];
    Py_ssize_t seen[MAX_TITLE_WORDS]; /* line where each was last */
    int count;
    uint64_t lengths[256]; /* bits: lengths of the words that begin with the byte, modulo 64 */
} Title;

/* Read different words, one a line. */
static void read_title(Title *title, Span lines)
{
    while (lines.begin < lines.end && title->count < MAX_TITLE_WORDS) {
        Span word = next_line(&lines);
        title->words[title->count] = word;
        title->seen[title->count++] = -1;
        title->lengths[*word.begin] |= (uint64_t)1 << (word.end - word.begin) % 64;
    }
}

/* Whether the title has a word, and the line not yet had it. */
static int is_new_title_word(Title *title, Span word, Py_ssize_t line)
{
    Py_ssize_t length = word.end - word.begin;
    int k;
    if (!(title->lengths[*word.begin] >> length % 64 & 1)) {
        return 0;
    }
    for (k = 0; k < title->count; k++) {
        const Span *known = &title->words[k];
        if (known->end - known->begin == length && memcmp(known->begin, word.begin, (size_t)length) == 0) {
            int is_new = title->seen[k] != line;
            title->seen[k] = line;
            return is_new;
        }
    }
    return 0;
}

typedef struct {
    const uint8_t *properties;
    uint32_t prefix, number;
    Title title;
    uint32_t *hashes;
    size_t hashed;
} Scan;

/* Read a line; the text then begins behind its line feed. */
static void scan_line(Scan *scan, Span *text, Py_ssize_t line, int32_t *words, int32_t *overlap)
{
    const unsigned char *at = text->begin, *end = text->end, *word = at;
    int characters = 0, digits = 1, hashed = 0, hashing = 1;
    int last = scan->title.count ? OVERLAP_CHARACTERS : HASHED_CHARACTERS;
    for (;;) {
        int over = at >= end || *at == '\n' || characters == last;
        int border = over || *at == ' ';
        if (hashing && (border || characters == HASHED_CHARACTERS)) {
            if (at > word) {
                scan->hashes[scan->hashed++] = ENTRY(digits ? scan->number : core_crc32(scan->prefix, word, at));
                hashed++;
            }
            hashing = hashed < MAX_WORDS && characters < HASHED_CHARACTERS;
        }
        if (border) {
            *overlap += at > word && is_new_title_word(&scan->title, (Span){word, at}, line);
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
    text->begin = at;
    next_line(text);
}

size_t read_words(Features *f, Span lines, Span title, int32_t *words_per_block, uint32_t *words)
{
    Scan scan = {.properties = f->properties, .prefix = PREFIX(word_prefix), .hashes = words};
    Py_ssize_t b;
    scan.number = hash_number(scan.prefix);
    read_title(&scan.title, title);
    for (b = 0; b < f->page.m; b++) {
        scan_line(&scan, &lines, b, words_per_block + b, f->overlap + b);
    }
    f->title = scan.title.count;
    return scan.hashed;
}

/* ---- Parts of names of elements: "postMeta_12" has post, meta and a number */

enum { NO_PART, NUMBER, SMALL_LETTER, CAPITAL, OTHER_LETTER }; /* the last are those that are not ASCII */

/* Read one character of a text, which must not be empty, and return what it can be a part of. */
static int next_kind(const uint8_t *properties, Span *text)
{
    int c = *text->begin;
    unsigned property = next_property(properties, text);
    if (property & IS_DIGIT) {
        return NUMBER;
    }
    if (c >= 0x80) {
        return property & IS_ALPHANUMERIC ? OTHER_LETTER : NO_PART;
    }
    return !is_letter(c) ? NO_PART : c >= 'a' ? SMALL_LETTER : CAPITAL;
}

/* Hash the letters of a part, which are ASCII or none is, in lower case; 0, or -1 with an exception set. */
static int hash_letters(Span part, uint32_t *hash)
{
    PyObject *text, *lower;
    int failed;
    if (*part.begin < 0x80) {
        while (part.begin < part.end) {
            unsigned char small[64];
            size_t length = 0;
            while (part.begin < part.end && length < sizeof small) {
                small[length++] = *part.begin++ | 0x20;
            }
            *hash = core_crc32(*hash, small, small + length);
        }
        return 0;
    }
    text = PyUnicode_DecodeUTF8((const char *)part.begin, part.end - part.begin, "strict");
    lower = text ? PyObject_CallMethod(text, "lower", NULL) : NULL;
    failed = lower == NULL || !in_text(lower, &part);
    *hash = failed ? 0 : core_crc32(*hash, part.begin, part.end);
    Py_XDECREF(lower);
    Py_XDECREF(text);
    return -failed;
}

/* Hash the distinct parts among the first of a name; returns how many, or -1 with an exception set. */
static int hash_parts(const uint8_t *properties, Span name, uint32_t seed, uint32_t number, uint32_t *hashes)
{
    int parts = 0, different = 0, i;
    while (name.begin < name.end && parts < MAX_NAME_PARTS) {
        Span part = name, ahead;
        int kind = next_kind(properties, &name);
        uint32_t hash = kind == NUMBER ? number : seed;
        if (kind == NO_PART) {
            continue;
        }
        for (ahead = name; ahead.begin < ahead.end; name = ahead) {
            int next = next_kind(properties, &ahead);
            if (next == SMALL_LETTER && kind == CAPITAL && name.begin == part.begin + 1) {
                kind = next; /* small letters behind one capital */
            }
            if (next != kind) {
                break;
            }
        }
        part.end = name.begin;
        if (kind != NUMBER && hash_letters(part, &hash) < 0) {
            return -1;
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

/* Where the parts of a value begin and end. */
typedef struct {
    const uint32_t *begin, *end;
} Parts;

Py_ssize_t read_names(const Features *f, const AttributeValues *values, const uint8_t *uses, int32_t *elements,
                      uint32_t *names)
{
    const PageArrays *page = &f->page;
    SCOPED(free_memory) Parts *of_attribute = calloc((size_t)page->a + 1, sizeof(Parts));
    SCOPED(free_memory) uint32_t *hashes = malloc(sizeof(uint32_t) * MAX_NAME_PARTS * (size_t)values->d + 1);
    uint32_t *to = hashes, seed = PREFIX(name_prefix), number = hash_number(seed);
    const uint32_t *part;
    Py_ssize_t count = 0, i;
    int32_t k;
    if (of_attribute == NULL || hashes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < values->d; i++) {
        int is_naming = uses[values->name_of[i]] & IS_NAMING;
        int found = is_naming ? hash_parts(f->properties, value_of(values, i), seed, number, to) : 0;
        if (found < 0) {
            return -1;
        }
        of_attribute[values->place[i]] = (Parts){to, to + found};
        to += found;
    }
    for (i = 0; i < page->n; i++) {
        int32_t behind = page->block_begin[i] < page->block_end[i] ? page->attribute_begin[i + 1] : 0;
        for (k = page->attribute_begin[i]; k < behind; k++) {
            const Parts *own = &of_attribute[page->first[k]];
            for (part = own->begin; part < own->end; part++) {
                elements[count] = (int32_t)i;
                names[count++] = ENTRY(*part);
            }
        }
    }
    return count;
}

/* ---- Features by tables of log-odds */

enum { WORD_ROWS = 4, NAME_LEVELS = 4 };

/* Write total, mean, lowest and highest log-odds of the words of each block; 0, or -1 if an index is out of range. */
static int write_words(const Array *numbers, const Array *words, const Array *odds, float *rows)
{
    const uint32_t *word = ITEMS(*words, uint32_t), *end = word + words->length;
    Py_ssize_t m = numbers->length, b;
    for (b = 0; b < m; b++) {
        int32_t number = ITEMS(*numbers, int32_t)[b], left;
        double total = 0, lowest = 0, highest = 0;
        if (number < 0 || number > end - word) {
            return -1;
        }
        for (left = number; left > 0; left--, word++) {
            double each;
            if (*word >= odds->length) {
                return -1;
            }
            each = ITEMS(*odds, float)[*word];
            total += each;
            lowest = smaller(each, lowest);
            highest = larger(each, highest);
        }
        rows[b] = (float)total;
        rows[m + b] = (float)(total / (double)(number > 1 ? number : 1));
        rows[2 * m + b] = (float)lowest;
        rows[3 * m + b] = (float)highest;
    }
    return word == end ? 0 : -1;
}

/* By element: log-odds of its own names, their sum from the root to it, and the lowest and highest on this path. */
typedef struct {
    double own, closed, path, lowest, highest;
} NameOdds;

static void follow_paths(const PageArrays *page, NameOdds *elements)
{
    double path = 0;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        const NameOdds *above = &elements[i ? page->parent[i] : 0];
        double own = elements[i].own;
        elements[page->end[i]].closed += own; /* there is one more than elements */
        path += own - elements[i].closed;
        elements[i].path = path;
        elements[i].lowest = own < 0 ? own : 0;
        elements[i].highest = own > 0 ? own : 0;
        elements[i].lowest = smaller(above->lowest, elements[i].lowest);
        elements[i].highest = larger(above->highest, elements[i].highest);
    }
}

/* Write log-odds of the path to the element of each block, the lowest and highest on it, that of its own names, and those of
   the paths to the innermost containers; 0, or -1 without memory. */
static int write_names(const PageArrays *page, const Array *element, const Array *name, const float *odds, float *rows)
{
    SCOPED(free_memory) NameOdds *elements = calloc((size_t)page->n + 1, sizeof(NameOdds));
    SCOPED(free_memory) int32_t *containers = malloc(sizeof(int32_t) * (size_t)page->n + 1);
    Py_ssize_t m = page->m, b, i;
    int level;
    if (elements == NULL || containers == NULL) {
        return -1;
    }
    for (i = 0; i < element->length; i++) {
        elements[ITEMS(*element, int32_t)[i]].own += odds[ITEMS(*name, int32_t)[i]];
    }
    follow_paths(page, elements);
    find_containers(page, containers);
    for (b = 0; b < m; b++) {
        const NameOdds *around = &elements[owner_of(page, b)];
        int32_t container = containers[page->block_node[b]];
        ROW(rows, 0)[b] = (float)around->path;
        ROW(rows, 1)[b] = (float)around->lowest;
        ROW(rows, 2)[b] = (float)around->highest;
        ROW(rows, 3)[b] = (float)around->own;
        for (level = 0; level < NAME_LEVELS; level++) {
            ROW(rows, 4 + level)[b] = (float)elements[container].path;
            container = container ? containers[page->parent[container]] : 0;
        }
    }
    return 0;
}

/* token_features(page, words_per_block: int32[m], word: uint32[w], word_odds: float32[size], name_element: int32[k],
                  name: uint32[k], name_odds: float32[size], rows: float32[WORD_ROWS + 4 + NAME_LEVELS, m])

   `words_per_block` words of each block, block after block. */
PyObject *core_token_features(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(page_release) PageArrays page = {0};
    SCOPED(array_release) Array number = {0}, word = {0}, word_odds = {0}, element = {0}, name = {0}, odds = {0}, rows = {0};
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&O&", in_page, &page, in_4, &number, in_4, &word, in_4, &word_odds, in_4,
                          &element, in_4, &name, in_4, &odds, out_4, &rows)
        || !check_arrays(number.length == page.m && name.length == element.length && are_below(&element, page.n)
                         && are_below(&name, odds.length) && rows.length == (WORD_ROWS + 4 + NAME_LEVELS) * page.m
                         && write_words(&number, &word, &word_odds, ITEMS(rows, float)) == 0)) {
        return NULL;
    }
    if (write_names(&page, &element, &name, ITEMS(odds, float), ITEMS(rows, float) + WORD_ROWS * page.m) < 0) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}
