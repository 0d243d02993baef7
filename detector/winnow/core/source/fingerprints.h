/* Fingerprints of units, and the tokens of attributes that they are made of, for winnow.fingerprints. */
#ifndef WINNOW_FINGERPRINTS_H
#define WINNOW_FINGERPRINTS_H

#include "page.h"

/* Longest text that is hashed here, in bytes; longer ones are rare, and left to Python. */
enum { MAX_HASHED = 240 };

/* Number of UTF-16 codes. */
enum { CODES = 65536 };

/* The surrogates of a character above U+FFFF. */
static inline uint32_t first_half(uint32_t character)
{
    return (0xD800 + ((character - CODES) >> 10)) & (CODES - 1);
}

static inline uint32_t second_half(uint32_t character)
{
    return 0xDC00 + ((character - CODES) & 0x3FF);
}

/* What Python finds of an attribute in the marks: the token is left to it; a type of control that its value labels; a
   value. */
enum { IS_LEFT = 1, IS_LABELLED = 2, IS_VALUE = 4 };

/* A text under construction; `is_full` if it did not fit. */
typedef struct {
    unsigned char data[MAX_HASHED];
    size_t length;
    int is_full;
} Piece;

static inline void piece_put(Piece *piece, const unsigned char *from, size_t length)
{
    if (length > MAX_HASHED - piece->length) {
        piece->is_full = 1;
        return;
    }
    memcpy(piece->data + piece->length, from, length);
    piece->length += length;
}

/* Words for states, such as "active": whole words, beginnings and endings of words; one a line. */
typedef struct {
    Span words, beginnings, endings;
} States;

/* The address of a page: its host, its folder with a slash after each part, and the page as its own links have it. */
typedef struct {
    int is_known;
    Span host, folder, own;
} Place;

static inline int is_ascii_space(unsigned char c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
}

/* Whether one of the lines is the given text. */
int is_line_of(Span lines, Span text);

/* XXH3, 64 bits, of at most MAX_HASHED bytes: winnow.hashing.hash_text. */
uint64_t hash_bytes(const unsigned char *bytes, size_t length);

/* Append the stable form of a name to `to`; 0 if that is left to Python. */
int put_stable_name(Piece *to, Span value, const States *states);

/* The token of a link's target; 0 if that is left to Python. */
int token_of_link(Span link, const Place *place, uint64_t *token);

/* Where a slice of tokens begins: the sum of those before it, and the inverse power of its first one. */
typedef struct {
    uint64_t sum, inverse;
} Start;

/* The finaliser of splitmix64: winnow.hashing.mix. */
static inline uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

#endif
