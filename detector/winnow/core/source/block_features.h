/* The features of text blocks that need nothing learned. winnow.features names the rows, the groups and the sets of
   tags, in the same order. */
#ifndef WINNOW_FEATURES_H
#define WINNOW_FEATURES_H

#include <math.h>

#include "page.h"

/* Counts of a text: its totals, and the characters inside links and emphasis. */
enum { LINKED = TOTALS, EMPHASISED, COUNTS };

/* Groups of tags that are named here: TAG_GROUPS. */
enum { H1 = 1, H2 = 2, H3_TO_H6 = 3, P = 4, LI = 5, LIST = 6, TABLE = 7, DIV = 28, GROUPS = 30 };

/* Sets of tags, bits by tag: _FLAGGED_TAGS. */
enum {
    IS_LINK, IS_IMAGE, IS_PARAGRAPH, IS_HEADING, IS_CONTROL, COUNTED_SETS,
    IS_TABLE = COUNTED_SETS, IS_ITEM, IS_PRE, IS_ARTICLE, IS_MAIN, IS_NOSCRIPT, IS_EMPHASIS
};
#define HAS(flags, set) ((flags) >> (set) & 1u)

/* Of names of attributes, bits: _USES. */
enum { IS_NAMING = 1, IS_CLASS = 2, IS_HIDING = 4, HIDES_IF_TRUE = 8, IS_STYLE = 16 };

enum { LEVELS = 6, OF_CONTAINER = 15, TAGGED_LEVELS = 3, CONTAINER_TAGS = 5, OF_PLACE = 10 };
enum { ENCLOSING = 18, WORDING_ROWS = ENCLOSING + GROUPS + 6, POSITION_ROWS = 14, NEIGHBOUR_ROWS = 21 };
enum { CONTAINER_ROWS = LEVELS * (OF_CONTAINER + 1) + TAGGED_LEVELS * CONTAINER_TAGS };
enum { STATIC_ROWS = WORDING_ROWS + POSITION_ROWS + CONTAINER_ROWS + NEIGHBOUR_ROWS + OF_PLACE };
enum { PAGE_FEATURES = 24 };

/* A page and what its features are computed from (n elements, m blocks). */
typedef struct {
    PageArrays page;
    const uint32_t *flags;   /* by tag */
    const int8_t *group;     /* by tag */
    const uint8_t *properties;
    unsigned long long seed; /* of hash tables, so that no page can provoke collisions */
    double title;            /* distinct words of the title */
    int32_t *overlap;        /* m: distinct words of the title in the block */
    int64_t *totals;         /* COUNTS for each of r + 1 borders of runs */
    double total[COUNTS];    /* of the page, at least 1 */
    float *enclosing;        /* [GROUPS][m]: elements of each group around each block, a few at most; rows of the features */
    int32_t *tag_sums;       /* COUNTED_SETS for each of n + 1 borders of elements */
    int64_t *signature;      /* n */
    uint8_t *hidden;         /* n */
    int32_t *alike;          /* n: siblings of the same signature, itself included */
    int32_t *repeats;        /* m: other blocks of the same text */
    int32_t *place;          /* m: the first block in the same kind of place */
    char *memory;            /* of the arrays */
} Features;

static inline int64_t in_subtree(const Features *f, Py_ssize_t element, int count)
{
    return f->totals[(Py_ssize_t)f->page.run_end[element] * COUNTS + count]
           - f->totals[(Py_ssize_t)f->page.run_begin[element] * COUNTS + count];
}

static inline int64_t count_of(const Features *f, Py_ssize_t block, int count)
{
    return f->totals[(Py_ssize_t)f->page.block_run_end[block] * COUNTS + count]
           - f->totals[(Py_ssize_t)f->page.block_run_begin[block] * COUNTS + count];
}

static inline int is_long(const Features *f, Py_ssize_t block)
{
    int64_t characters = count_of(f, block, CHARACTERS);
    return count_of(f, block, WORDS) >= 20
           && (double)count_of(f, block, LINKED) / (double)(characters > 1 ? characters : 1) < 0.3;
}

static inline int is_enclosed(const Features *f, int group, Py_ssize_t block)
{
    return f->enclosing[group * f->page.m + block] > 0;
}

static inline int in_heading(const Features *f, Py_ssize_t block)
{
    return is_enclosed(f, H1, block) || is_enclosed(f, H2, block) || is_enclosed(f, H3_TO_H6, block);
}

#define LOGARITHMS 4096
extern double features_logarithms[LOGARITHMS];

/* log(1 + x); tabulated for small integers. */
static inline double log_of(double x)
{
    if (x >= 0 && x < LOGARITHMS) {
        int whole = (int)x;
        if ((double)whole == x) {
            return features_logarithms[whole];
        }
    }
    return log1p(x);
}

/* Row `number` of float32[..., m]. */
#define ROW(rows, number) ((rows) + (Py_ssize_t)(number) * m)

void features_wording(const Features *f, Span lines, float *rows); /* a line a block */
void features_position(const Features *f, float *rows);
void features_neighbours(const Features *f, float *rows);
void features_of_page(const Features *f, float *to);

/* These allocate: 0, or -1 without memory. */
int features_containers(const Features *f, float *rows);
int features_places(const Features *f, float *rows);

/* Hashed words and names are entries of tables of log-odds; the same number is in winnow.features. */
enum { TABLE_SIZE = 1 << 15, MAX_WORDS = 16, MAX_NAME_PARTS = 12 };

/* Read the leading words of each line, MAX_WORDS at most, and count the title's words in it; returns the number of words.
   `title`: different words with a line feed behind each, of which the first 64 count. */
size_t read_words(Features *f, Span lines, Span title, int32_t *words_per_block, uint32_t *words);

/* Read the parts of the attributes that name elements with blocks, MAX_NAME_PARTS of each attribute at most: element and
   name of each part. Returns how many, or -1 with an exception set. */
Py_ssize_t read_names(const Features *f, const AttributeValues *values, const uint8_t *uses, int32_t *elements,
                      uint32_t *names);

#endif
