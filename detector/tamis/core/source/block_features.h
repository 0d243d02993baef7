/* The features of text blocks. tamis.features names them, the groups and the sets of tags, in the same order. */
#ifndef TAMIS_FEATURES_H
#define TAMIS_FEATURES_H

#include <math.h>

#include "network.h"
#include "page.h"

/* Counts of a text: its totals, and the characters inside links and emphasis. */
enum { LINKED = TOTALS, EMPHASISED, COUNTS };

/* Groups of tags that are named here: TAG_GROUPS. */
enum { H1 = 1, H2 = 2, H3_TO_H6 = 3, P = 4, LI = 5, LIST = 6, TABLE = 7, CELL = 8, DIV = 28, GROUPS = 30 };

/* Sets of tags, bits from FIRST_FEATURE_SET on. */
enum {
    IS_LINK, IS_IMAGE, IS_PARAGRAPH, IS_HEADING, IS_CONTROL, COUNTED_SETS,
    IS_TABLE = COUNTED_SETS, IS_ITEM, IS_PRE, IS_ARTICLE, IS_MAIN, IS_NOSCRIPT, IS_EMPHASIS
};

static inline uint32_t sets_of(int16_t tag)
{
    return core_tables.tag_sets[tag] >> FIRST_FEATURE_SET;
}

/* Of names of attributes, bits: _USES. */
enum { IS_NAMING = 1, IS_CLASS = 2, IS_HIDING = 4, HIDES_IF_TRUE = 8, IS_STYLE = 16 };

enum { LEVELS = 6, OF_CONTAINER = 15, TAGGED_LEVELS = 3, CONTAINER_TAGS = 5, OF_REGION = 10 };
enum { ENCLOSING = 18, OF_WORDING = ENCLOSING + GROUPS + 6, OF_POSITION = 14, OF_NEIGHBOURS = 21 };
enum { OF_CONTAINERS = LEVELS * (OF_CONTAINER + 1) + TAGGED_LEVELS * CONTAINER_TAGS };
enum { OF_NEIGHBOUR = 6, OF_WORDS = 4, NAME_LEVELS = 4, OF_TOKENS = OF_WORDS + 4 + NAME_LEVELS };
enum { KEPT = 64 }; /* containers whose features are kept: those around a block have different depths */
enum { FEATURES = OF_WORDING + OF_POSITION + OF_CONTAINERS + OF_NEIGHBOURS + OF_REGION + OF_TOKENS };
enum { PAGE_FEATURES = 24 };

/* Hashed words and names are entries of tables of log-odds; tamis.features has the same number. */
enum { TABLE_SIZE = 1 << 15, MAX_WORDS = 16, MAX_NAME_PARTS = 12 };

/* What the features of a text block are read from. */
typedef struct {
    uint32_t long_characters; /* of the long blocks up to it */
    int32_t last_heading, last_long, next_long; /* blocks, maybe this one; -1 without one */
    int32_t repeats;         /* other blocks of the same text */
    int32_t region;           /* the kind of region that it is in */
    int32_t container;       /* the innermost */
    int32_t owner;           /* the element of the run with the most letters and digits, of several the first */
    float words[OF_WORDS];   /* total, mean, lowest and highest log-odds of its words */
    float known[OF_NEIGHBOUR]; /* features of its neighbours, and its own */
    uint64_t enclosing;      /* as of its owner */
    uint8_t overlap;         /* distinct words of the title in it, of which there are 64 at most */
    uint8_t borders;         /* BORDERS, what its first and last character are, as bits */
} Block;

/* What is known of an element. */
typedef struct {
    uint64_t signature;
    uint64_t enclosing;           /* elements of each group around it, itself included: MAX_ENCLOSING at most, two bits each */
    double own, closed;           /* log-odds of its names, and of elements that end before it */
    float path, lowest, highest;  /* sum of the log-odds from the root to it, and the lowest and highest of them */
    double penalty;               /* of a section that starts directly in it */
    int32_t alike;                /* siblings of the same signature, itself included */
    int32_t children;
    int32_t parts, most_alike;    /* children with text, and the most of its children that are alike */
    int32_t cells;                /* of tables up to it, itself included, in document order */
    uint8_t hidden, linked, emphasised;
} Element;

enum { USES, WORD_ODDS, NAME_ODDS, BORROWED };

/* A page and what its features are computed from (n elements, m blocks, a attributes). */
typedef struct {
    PageArrays page;
    Array arrays[BORROWED];
    PyObject *lower;            /* the lines in lower case, if that needs Python */
    Span title, lines, lowered;
    double title_words;         /* distinct ones */
    double total[COUNTS];       /* of the page, at least 1 */
    Py_ssize_t h1, h1_blocks;   /* the longest block in an h1, -1 without one, and how many there are */
    float *regions;              /* [regions][OF_REGION] */
    unsigned char *small;       /* characters of the blocks, in lower case */
    char *zeroed;               /* memory of the arrays up to `hides` */
    Block *blocks;              /* m */
    Element *elements;          /* n + 1 */
    int64_t *class_signature;   /* a */
    uint8_t *hides;             /* a */
    char *scratch;              /* memory of the arrays below, never zeroed as it is large */
    uint32_t *totals;           /* COUNTS for each of r + 1 borders of runs */
    int32_t *tag_sums;          /* COUNTED_SETS for each of n + 1 borders of elements */
    int32_t *container_of;      /* n */
    float *described;           /* [KEPT][OF_CONTAINER]: features of the last containers, by their depth */
    int32_t *described_container; /* [KEPT]: -1 without one */
    int32_t *words_per_block;   /* m */
    uint16_t *words;            /* of the blocks, one after the other: entries of tables */
    int32_t *name_elements;     /* element of each name */
    uint16_t *names;            /* as entries of tables */
    unsigned char *stable;      /* of a value, without its numbers */
    Py_ssize_t word_count, name_count;
} Features;

/* The first argument of what takes a page for its features, a tuple from tamis.features.page_arguments: page, lines (texts
   of the blocks in UTF-8, with line feeds between them), title (its different words in lower case, with a line feed after
   each), uses: uint8[names] (bits of each name of attributes), word_odds: float32[TABLE_SIZE], name_odds: float32[TABLE_SIZE] */
#define PAGE_FORMAT "(O&O&O&O&O&O&)"
#define PAGE_ARGUMENTS(f) \
    in_page, &(f)->page, in_bytes, &(f)->lines, in_text, &(f)->title, in_1, &(f)->arrays[USES], in_4, &(f)->arrays[WORD_ODDS], \
        in_4, &(f)->arrays[NAME_ODDS]

/* Read what needs the lock of a page whose arguments were parsed; 0, or -1 with an exception set. */
int features_read(Features *f);

/* Measure what the features are computed from; needs no lock. 0, or -1 without memory or with an exception set. */
int features_measure(Features *f);

void features_release(Features *f);

/* Write the FEATURES of a block. */
void features_of_block(const Features *f, Py_ssize_t b, float *row);

/* Write PAGE_FEATURES in single precision. */
void features_of_page(const Features *f, double *to);

/* Describe the blocks as their neighbours' features do. */
void describe_for_neighbours(Features *f);

/* Read what the first and last characters of the blocks are. */
void read_borders(Features *f);

/* Compute the features of this many kinds of regions; 0, or -1 without memory. */
int describe_regions(Features *f, Py_ssize_t regions);

static inline int64_t in_subtree(const Features *f, Py_ssize_t element, int count)
{
    return f->totals[(Py_ssize_t)f->page.run_end[element] * COUNTS + count]
           - f->totals[(Py_ssize_t)f->page.run_begin[element] * COUNTS + count];
}

/* What consecutive blocks hold. Between them are only blank runs. */
static inline int64_t count_between(const Features *f, Py_ssize_t begin, Py_ssize_t end, int count)
{
    return f->totals[(Py_ssize_t)f->page.block_run_end[end - 1] * COUNTS + count]
           - f->totals[(Py_ssize_t)f->page.block_run_begin[begin] * COUNTS + count];
}

static inline int64_t count_of(const Features *f, Py_ssize_t block, int count)
{
    return count_between(f, block, block + 1, count);
}

static inline int is_long(const Features *f, Py_ssize_t block)
{
    int64_t characters = count_of(f, block, CHARACTERS);
    return count_of(f, block, WORDS) >= 20
           && (double)count_of(f, block, LINKED) / (double)(characters > 1 ? characters : 1) < 0.3;
}

#define MAX_ENCLOSING 3
#define ENCLOSING_OF(enclosing, group) ((enclosing) >> 2 * (group) & MAX_ENCLOSING)

static inline int is_enclosed(const Features *f, int group, Py_ssize_t block)
{
    return ENCLOSING_OF(f->blocks[block].enclosing, group) > 0;
}

static inline int in_heading(const Features *f, Py_ssize_t block)
{
    return is_enclosed(f, H1, block) || is_enclosed(f, H2, block) || is_enclosed(f, H3_TO_H6, block);
}

#define LOGARITHMS 4096
extern float features_logarithms[LOGARITHMS];

/* log(1 + x); tabulated for small integers. */
static inline float log_of(double x)
{
    if (x >= 0 && x < LOGARITHMS) {
        int whole = (int)x;
        if ((double)whole == x) {
            return features_logarithms[whole];
        }
    }
    return (float)log(1 + x); /* in single precision the same as log1p, which takes longer */
}

/* Read the leading words of each block, MAX_WORDS at most, and count the title's words in it: the first 64 of them count. */
void read_words(Features *f);

/* Read the parts of the attributes that name elements with text, MAX_NAME_PARTS of each attribute at most; 0, or -1 without
   memory or with an exception set. */
int read_names(Features *f);

/* Sum up the log-odds of the words and names that were read. */
void sum_odds(Features *f);

/* Write the features that the log-odds of a block's words and names are. */
void write_odds(const Features *f, Py_ssize_t b, float *row);

#endif
