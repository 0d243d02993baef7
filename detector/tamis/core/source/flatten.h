/* The flat arrays that the tree of a parser is read into, without the GIL. */
#ifndef TAMIS_FLAT_H
#define TAMIS_FLAT_H

#include "nodes.h"

/* What reading comes to. Functions that give a string's number give 1 + number, or one of the others. */
enum { NO_MEMORY = -1, UNREADABLE = 0, READ = 1 };

/* Grow the memory of a pointer to at least `wanted` bytes, and to what many pages need at once. */
static inline int make_room(void *pointer, size_t *capacity, size_t wanted)
{
    const size_t usual = 1 << 15;
    return wanted <= *capacity || reserve(pointer, capacity, wanted > usual ? wanted : usual) == 0 ? READ : NO_MEMORY;
}

int append(Bytes *to, Span text);

/* Append what may leave the library of a text of a tree: line ends are line feeds, controls that Python takes for white space
   are spaces, and other controls (C0, DEL and C1), surrogates, U+FFFE and U+FFFF are dropped. Terminals obey some of them, and
   XML and UTF-8 take none. */
int append_plain(Bytes *to, Span text);

/* What was appended from there on. */
static inline Span bytes_from(const Bytes *bytes, size_t begin)
{
    const unsigned char *data = (const unsigned char *)bytes->data;
    return (Span){data + begin, data + bytes->used};
}

/* Whether append_plain may change a text; compilers make vectors of its loop. */
int may_change(Span text);

typedef struct {
    int64_t begin; /* in the text of all */
    int32_t group; /* equal strings of different groups are different */
    int32_t note;  /* what is to be known of it; 0 at first */
    uint32_t hash;
} String;

/* Different strings, numbered as they come. */
typedef struct {
    String *items; /* and one more, where the next will begin */
    size_t capacity, used;
    uint32_t *slots; /* 1 + number, by hash */
    size_t mask;
    Bytes text;
} Strings;

int strings_allocate(Strings *strings);

void strings_free(Strings *strings);

/* 0 where it is not there. */
int32_t find_string(const Strings *strings, Span text, int32_t group);

/* Adds it where it is not there. */
int32_t put_string(Strings *strings, Span text, int32_t group);

static inline Span string_of(const Strings *strings, size_t number)
{
    const unsigned char *text = (const unsigned char *)strings->text.data;
    return (Span){text + strings->items[number].begin, text + strings->items[number + 1].begin};
}

/* Add lines; READ or NO_MEMORY. */
int put_lines(Strings *strings, Span lines);

/* The name that lexbor has an entry for. */
Span lexbor_name(uintptr_t address);

/* By lexbor's number, or the address of an entry. */
int32_t put_lexbor_name(Strings *names, const Array *known, uintptr_t name);

/* By a node of libxml2: "{namespace}name", made in a buffer. */
int32_t put_libxml2_name(Strings *names, const Node *node, Bytes *buffer);

typedef struct {
    const void *node;
    union {
        int32_t end, container; /* while it is open, the block-level element around it, or itself */
    };
    int32_t parent, depth, run_begin, run_end, block_begin, block_end, attribute_begin;
    int32_t name;
    int16_t tag;
    uint8_t is_raw; /* whether the text that begins it is kept as it is */
} Element;

typedef struct {
    int64_t offset; /* in characters */
    int32_t node;
    uint8_t is_nonblank, has_unseen, continues_word;
} Run;

typedef struct {
    int32_t node, run_begin, run_end;
} Block;

typedef struct {
    const Tree *tree;
    int has_controls;       /* texts and values are read by append_plain */
    Strings tags, attributes; /* names of elements and of attributes; the note on the former is the tag */
    Strings values;         /* of attributes, in groups by name; the note is the place of the first attribute */
    Element *elements;      /* of these and of runs there is one more, where the next one's slices will begin */
    Run *runs;
    Block *blocks;
    int32_t *first;         /* place of the first equal attribute */
    size_t elements_capacity, runs_capacity, blocks_capacity, first_capacity; /* in bytes */
    size_t n, r, m, a;
    size_t nodes, levels;   /* nodes that are no text; levels of elements */
    Bytes text, buffer;
    size_t run_begin;       /* where the current run begins in the text */
    int32_t current, head;  /* elements, -1 for none */
    int32_t border, last_border; /* block-level borders so far, and before the last block */
    int32_t hidden;         /* elements around without text of the page */
    int32_t content_in_head; /* the first element right in the first head that does not stay there, 0 for none */
} Flat;

/* Read the tree; `flat` is zeroed but for the tree, and names and strings allocated. */
int read_tree(Flat *flat);

#endif
