/* What the files of the compiled core share. */
#ifndef TAMIS_CORE_H
#define TAMIS_CORE_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Incremented with every change of a signature; tamis.core expects the same number. */
#define CORE_VERSION 51

/* A variable that lets go of what it holds where its block ends, on whichever way. */
#define SCOPED(release) __attribute__((cleanup(release)))

/* SCOPED(free_memory): a pointer to memory of malloc, calloc or realloc. */
static inline void free_memory(void *pointer)
{
    free(*(void **)pointer);
}

/* SCOPED(release_object): a reference, or NULL. */
static inline void release_object(PyObject **object)
{
    Py_XDECREF(*object);
}

/* Carve `count` items off a block of memory; `at` moves past them. */
#define CARVE(at, pointer, count) ((pointer) = (void *)(at), (at) += sizeof *(pointer) * (count))

/* Grow the memory of a pointer to at least `wanted` bytes, and to four times what it was, since each time leaves a hole, and
   what is never written takes no memory; `capacity` is its length in bytes. 0, or -1 without memory, and no exception set,
   since the GIL may have been released. */
int enlarge(void *pointer, size_t *capacity, size_t wanted);

/* The same unless it is that long. */
static inline int reserve(void *pointer, size_t *capacity, size_t wanted)
{
    return wanted <= *capacity ? 0 : enlarge(pointer, capacity, wanted);
}

/* A buffer that grows; `used` and `capacity` in bytes. */
typedef struct {
    char *data;
    size_t used;
    size_t capacity;
} Bytes;

/* A slice of bytes; characters below are of ASCII. */
typedef struct {
    const unsigned char *begin, *end;
} Span;

/* All of a text that a zero ends; NULL is none. */
static inline Span span_of(const void *text)
{
    return (Span){text, text ? (const unsigned char *)text + strlen(text) : NULL};
}

/* A new str of UTF-8; NULL with an exception. */
static inline PyObject *decoded(Span text)
{
    return PyUnicode_DecodeUTF8((const char *)text.begin, text.end - text.begin, NULL);
}

/* The next line; `lines` moves past it. */
static inline Span next_line(Span *lines)
{
    const unsigned char *feed = memchr(lines->begin, '\n', (size_t)(lines->end - lines->begin));
    Span line = {lines->begin, feed ? feed : lines->end};
    lines->begin = feed ? feed + 1 : lines->end;
    return line;
}

static inline int is_letter(int c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline int is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline int lower_of(int c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* White space in HTML and CSS. */
static inline int is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* Hash tables have open addressing, and a secret seed, so that no page can provoke collisions. */

extern uint64_t core_seed;

/* The number of slots for up to `keys` keys, a power of two. */
static inline size_t slots_for(size_t keys)
{
    size_t slots = 64;
    while (slots < 2 * keys) {
        slots *= 2;
    }
    return slots;
}

static inline uint64_t mixed(uint64_t key, uint64_t seed)
{
    key = (key ^ seed) * 0x9E3779B97F4A7C15u;
    key ^= key >> 32;
    key = (key + seed) * 0xBF58476D1CE4E5B9u;
    return key ^ key >> 29;
}

/* Mix the next 8 bytes into a hash. */
static inline uint64_t with_word(uint64_t hash, const unsigned char *at, uint64_t seed)
{
    uint64_t word;
    memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
    return (hash ^ hash >> 29) + seed;
}

static inline uint64_t hash_of(Span text, uint64_t seed)
{
    uint64_t hash = seed ^ (uint64_t)(text.end - text.begin), other = ~hash;
    const unsigned char *at = text.begin;
    if (text.end - at < 8) {
        uint64_t word = 0;
        while (at < text.end) {
            word = word << 8 | *at++;
        }
        return mixed(hash ^ word, seed);
    }
    for (; text.end - at > 16; at += 16) { /* two words at once, since each takes a while */
        hash = with_word(hash, at, seed);
        other = with_word(other, at + 8, seed);
    }
    if (text.end - at > 8) {
        hash = with_word(hash, at, seed);
    }
    other = with_word(other, text.end - 8, seed); /* some of them once more */
    return mixed(hash ^ mixed(other, seed), seed);
}

/* A contiguous array borrowed from numpy. */
typedef struct {
    Py_buffer view;
    Py_ssize_t length; /* in items */
    int held;
} Array;

/* Borrow an array of items of `size` bytes, 0 for any; 0, or -1 with an exception set. */
int array_borrow(Array *array, PyObject *object, Py_ssize_t size, int writable, const char *name);

void array_release(Array *array);

/* Borrow the arrays of a tuple, with items of these sizes, to be read; 0 with an exception set. */
int arrays_borrow(PyObject *tuple, Array *arrays, const Py_ssize_t *sizes, Py_ssize_t count);

void arrays_release(Array *arrays, int count);

#define ITEMS(array, type) ((type *)(array).view.buf)

/* Append an object to a list, stealing the reference; 0, or -1 with an exception set. */
int append_item(PyObject *list, PyObject *object);

/* Store an object under a key, stealing references; 0, or -1 with an exception set. */
int put_item(PyObject *dict, PyObject *key, PyObject *object);

/* Converters for "O&" of PyArg_ParseTuple. They borrow an Array of items of any, 1, 4 or 8 bytes, to be read or written, and
   give a Span of bytes, or of a str or its UTF-8. Arrays are SCOPED(array_release). */
int in_any(PyObject *object, void *array);
int in_1(PyObject *object, void *array);
int in_4(PyObject *object, void *array);
int in_8(PyObject *object, void *array);
int out_1(PyObject *object, void *array);
int out_4(PyObject *object, void *array);
int out_8(PyObject *object, void *array);
int in_bytes(PyObject *object, void *span);
int in_text(PyObject *object, void *span);

/* Whether the arrays of a call fit each other; sets a ValueError if not. */
int check_arrays(int fit);

/* Read one character of UTF-8 and advance `at`, which is below `end`; never reads beyond `end`. A byte that begins no valid
   character counts as one. */
static inline uint32_t next_character(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *p = *at;
    uint32_t first = *p++;
    int more;
    uint32_t code;
    if (first < 0x80) {
        *at = p;
        return first;
    }
    if (first >= 0xF0 && first < 0xF8) {
        more = 3;
        code = first & 0x07;
    }
    else if (first >= 0xE0) {
        more = 2;
        code = first & 0x0F;
    }
    else if (first >= 0xC0) {
        more = 1;
        code = first & 0x1F;
    }
    else {
        more = 0;
        code = first;
    }
    while (more-- > 0 && p < end && (*p & 0xC0) == 0x80) {
        code = code << 6 | (*p++ & 0x3F);
    }
    *at = p;
    return code;
}

#define EACH(byte) (0x0101010101010101u * (byte)) /* of eight */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "of eight bytes of text, the first has to be the lowest");

/* Where the ASCII that a text begins with ends. */
static inline const unsigned char *skip_ascii(Span text)
{
    uint64_t eight;
    for (; text.end - text.begin >= 8; text.begin += 8) {
        memcpy(&eight, text.begin, 8);
        if (eight &= EACH(0x80)) {
            return text.begin + __builtin_ctzll(eight) / 8;
        }
    }
    while (text.begin < text.end && *text.begin < 0x80) {
        text.begin++;
    }
    return text.begin;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

#define MIN_WORDS 0.5 /* of a block in what decides on its page: those without words count a little */

#define MAX_LOGIT 30.0 /* of a probability; tamis.models has the same number */

/* Log-odds of a probability, which is kept so far from 0 and 1. */
static inline double log_odds(double probability, double least)
{
    double bounded = smaller(larger(probability, least), 1 - least);
    return log(bounded / (1 - bounded));
}

/* The probability with log-odds. */
static inline double probability_of(double logit)
{
    return 1 / (1 + exp(-smaller(larger(logit, -MAX_LOGIT), MAX_LOGIT)));
}

/* Totals of a text by kind: the fields of tamis.page.text.TextTotals. */
enum { CHARACTERS, WORDS, LETTERS, DIGITS, UPPER_CASE, COMMAS, SENTENCE_ENDS, SYMBOLS, TOTALS };

/* Properties of code points, one byte each: tamis.page.text.character_properties. */
#define CODE_POINTS 0x110000
#define KIND 0x07
#define WHITE_SPACE 0x08
#define IS_DIGIT 0x10
#define IS_UPPER_CASE 0x20
#define IS_ALPHANUMERIC 0x40
#define IS_UNSEEN 0x80 /* without a width */

/* Tables that Python sets once, where it defines them: name, type of items, number of items; TAGS is the same for all. */
#define TABLES(DO) \
    DO(character_properties, uint8_t, CODE_POINTS) \
    DO(character_tokens, uint64_t, 2 * CODE_UNITS) \
    DO(word_kinds, uint8_t, CODE_UNITS) \
    DO(tag_sets, uint32_t, TAGS) \
    DO(tag_groups, int8_t, TAGS) \
    DO(tag_tokens, uint64_t, TAGS)
enum { CODE_UNITS = 65536, TAGS = 0 };

typedef struct {
#define POINTER(name, type, length) const type *name;
    TABLES(POINTER)
#undef POINTER
    Py_ssize_t tags; /* of each table by tag */
} Tables;

extern Tables core_tables;

/* Whether tables are set that a function needs; sets a RuntimeError if not. */
int check_tables(int are_set);

/* Sets that a tag is in, bits of core_tables.tag_sets: tamis.page.tag_sets has the same order. */
enum {
    TAG_BLOCK_LEVEL = 1, TAG_UNSEEN_TEXT = 2, TAG_RAW_TEXT = 4, TAG_HEAD = 8, TAG_STAYS_IN_HEAD = 16, /* of a tree */
    TAG_MEDIA = 32, TAG_IGNORED = 64, TAG_WHOLE_PAGE = 128, /* of what is counted */
    TAG_HEADLINE = 256, TAG_CODE = 512,                     /* of the main content */
    FIRST_TABLE_ROLE = 10,                                  /* the first bit of those of tables.c */
    FIRST_FEATURE_SET = 16                                  /* the first bit of those of block_features.h */
};

/* Whether a bit is set, by its number. */
#define HAS(bits, number) ((bits) >> (number) & 1u)

static inline unsigned property_of(uint32_t code)
{
    return code < CODE_POINTS ? core_tables.character_properties[code] : 0;
}

/* Read one character of a text, which must not be empty, and return its properties. */
static inline unsigned next_property(Span *text)
{
    return property_of(*text->begin < 0x80 ? *text->begin++ : next_character(&text->begin, text->end));
}

/* Copy characters of a text with each stretch of white space as one space, which is written before the word after it;
   `is_spaced` is whether there has been white space since the last word. Returns what is after the copy. */
char *copy_words(char *to, Span *text, int64_t characters, int *is_spaced);

/* Skip white space at the beginning of a number of characters; returns how many are left. */
int64_t skip_white_space(Span *text, int64_t characters);

void skip_characters(Span *text, int64_t characters);

/* The functions of the module. */
#define FUNCTIONS(DO) \
    DO(flatten, "Flat arrays of a tree of lxml or lexbor, for tamis.page.page.") \
    DO(return_memory, "Give freed memory back, for tamis.page.page.") \
    DO(lexbor_numbers, "Numbers of names, for tamis.page.html5.") \
    DO(count_kinds, "Totals of characters by kind, for tamis.page.text.") \
    DO(block_texts, "Texts of blocks with white space normalised, one a line.") \
    DO(text_borders, "Runs that touch others across borders of elements, for tamis.output.spacing.") \
    DO(data_tables, "Tables that hold values, for tamis.output.tables.") \
    DO(kept_items, "Elements and runs that stay, for tamis.output.markup.") \
    DO(join_items, "Elements and texts in document order, for tamis.output.markup.") \
    DO(plain_text, "Plain text of what is kept, for tamis.output.text.") \
    DO(code_lines, "The lines of blocks of code, for tamis.output.markup.") \
    DO(parts_of_main_content, "Cut blocks that belong to what is kept.") \
    DO(enclosed_blocks, "Blocks with all of their text inside some elements.") \
    DO(has_controls, "Whether a text has control characters beyond ASCII, for tamis.page.parsing.") \
    DO(count_continuations, "Bytes that continue characters of UTF-8, for tamis.page.parsing.") \
    DO(without_controls, "A text as it may leave the library, for tamis.page.text.") \
    DO(scan_tags, "A document mended for parsers, and the work that nesting makes, for tamis.page.parsing.") \
    DO(node_fingerprints, "Tokens of attributes and fingerprints of units, for tamis.fingerprints.") \
    DO(hash_bytes, "XXH3 of bytes, for tamis.hashing.") \
    DO(mark_units, "Which elements are counted, for tamis.counting.") \
    DO(counted_units, "Units that are counted, with their fingerprints, for tamis.places.") \
    DO(spread_frequencies, "Counts of elements by those of their leaves.") \
    DO(find_places, "Places of blocks and their codes, for tamis.places.") \
    DO(site_evidence, "What a site's counts say, for tamis.evidence.site_counts.") \
    DO(adjust_scores, "Scores with the log-odds of evidence added.") \
    DO(set_table, "Set a table that never changes.") \
    DO(set_seed, "Set the seed of all hash tables.") \
    DO(checked_attributes, "Attributes of a page, checked for all functions that take them.") \
    DO(checked_page, "Arrays of a page, checked for all functions that take them.") \
    DO(chosen_ancestors, "Nearest or outermost chosen ancestor of every node.") \
    DO(mark_subtrees, "What lies in some elements.") \
    DO(mark_runs, "Runs of some blocks.") \
    DO(mark, "A mask of some numbers.") \
    DO(elements_with_tags, "Elements with some tags.") \
    DO(prefix_sums, "Running totals of an array.") \
    DO(slice_sums, "Sums over slices of an array.") \
    DO(shingles, "The smallest hashes of a text's shingles.") \
    DO(read_styles, "A page's own styles, for tamis.page.cascade.") \
    DO(has_styles, "Whether a page's own styles set some properties.") \
    DO(find_styles, "What sets some properties of some elements.") \
    DO(match_predicates, "Attribute predicates, for tamis.page.attributes.") \
    DO(values_of_name, "Values of the attributes with a name.") \
    DO(elements_with, "Elements with some attributes.") \
    DO(elements_with_attributes, "Elements with attributes of some names.") \
    DO(elements_with_word, "Elements with a class, an id or the like.") \
    DO(score_blocks, "Scores of a page's blocks, for tamis.models.blocks.") \
    DO(block_features, "Features of text blocks, and their tokens.") \
    DO(kind_probabilities, "How likely each kind of page is.") \
    DO(choose_threshold, "The threshold for a page, and what text it leaves.") \
    DO(smooth, "Smoothed scores and sections, for tamis.smoothing.")

#define DECLARE(name, description) PyObject *core_##name(PyObject *module, PyObject *arguments);
FUNCTIONS(DECLARE)

/* Write the totals up to the end of each of r runs; the first totals, and those of other columns, are left. */
void count_kinds(Span text, const int64_t *run_offset, Py_ssize_t r, uint32_t *totals, int columns);

/* Write a text in lower case, as str.lower does; 0 if it has capitals that are not ASCII, which needs Python's tables. */
int lower_ascii(unsigned char *to, Span text);

extern uint32_t core_crc_table[4][256]; /* core_crc_table[k]: of a byte with k bytes of zero after it */

/* The complement of the checksum of some bytes, from that of all but the last. */
static inline uint32_t crc32_step(uint32_t crc, unsigned char last)
{
    return crc >> 8 ^ core_crc_table[0][(crc ^ last) & 0xFF];
}

/* zlib.crc32 of the bytes from `at` to `end`; `before` is the checksum of the bytes before them. */
uint32_t core_crc32(uint32_t before, const unsigned char *at, const unsigned char *end);

void core_prepare_crc32(void);

void core_keep_memory(void);

/* Name in the module the numbers for what an element is, for tamis.output.markup; 0, or -1 with an exception set. */
int core_name_items(PyObject *module);

/* The logarithms that features are looked up in. */
void core_prepare_features(void);

/* The fastest instructions of this processor. */
void core_prepare_network(void);

/* Find the types of the parsers' elements; 0, or -1 with an ImportError if the core cannot read their trees. */
int trees_prepare(void);

#endif
