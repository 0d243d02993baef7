/* Fingerprints of units, and the tokens of attributes that they are made of, for tamis.fingerprints. */
#ifndef TAMIS_FINGERPRINTS_H
#define TAMIS_FINGERPRINTS_H

#include "page.h"

/* The surrogates of a character above U+FFFF. */
static inline uint32_t first_half(uint32_t character)
{
    return (0xD800 + ((character - CODE_UNITS) >> 10)) & (CODE_UNITS - 1);
}

static inline uint32_t second_half(uint32_t character)
{
    return 0xDC00 + ((character - CODE_UNITS) & 0x3FF);
}

/* Marks of an attribute: the type of a control that its value labels; a value. */
enum { IS_LABELLED = 1, IS_VALUE = 2 };

/* A text under construction, with room for all of it. */
typedef struct {
    unsigned char *data;
    size_t length;
} Piece;

static inline void piece_put(Piece *piece, Span text)
{
    size_t length = (size_t)(text.end - text.begin);
    memcpy(piece->data + piece->length, text.begin, length);
    piece->length += length;
}

/* Add a word, after a space unless it is the first from `begun` on. */
static inline void piece_put_word(Piece *piece, size_t begun, Span word)
{
    if (piece->length > begun) {
        piece->data[piece->length++] = ' ';
    }
    piece_put(piece, word);
}

/* Lists of words, each after a byte with its length. Words for states, such as "active": whole words, beginnings and
   endings of words; types of controls that their values label; parameters of links whose value is of one visit: whole
   names, and beginnings of longer ones; such parameters of a path. */
enum { STATES, STATE_BEGINNINGS, STATE_ENDINGS, LABELLING, VOLATILE, VOLATILE_BEGINNINGS, SESSIONS, LISTS };

/* The address of a page: its host, its folder with a slash after each part, and the page as its own links have it. */
typedef struct {
    int is_known;
    Span host, folder, own;
} Place;

/* How attributes are read: names, with line feeds between, and the kind of each name. */
typedef struct {
    Span names, lists[LISTS];
    Array kinds;
    Place place;
    unsigned char *scratch; /* room for twice a value */
} AttributeReader;

/* XXH3, 64 bits: tamis.hashing.hash_text. */
uint64_t hash_bytes(const unsigned char *bytes, size_t length);

/* Write tokens and marks of the attributes by their first occurrence; what counts for nothing is left. `place.own` is the
   address of the page. 0, or -1 without memory. */
int read_attributes(const AttributeValues *values, AttributeReader *reader, uint64_t *tokens, uint8_t *marks);

/* Where a slice of tokens begins: the sum of those before it, and the inverse power of its first one. */
typedef struct {
    uint64_t sum, inverse;
} Start;

/* The finaliser of splitmix64: tamis.hashing.mix. */
static inline uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

#endif
