/* The flat arrays that an lxml tree is read into. */
#ifndef WINNOW_FLAT_H
#define WINNOW_FLAT_H

#include "core.h"
#include "libxml2_nodes.h"

typedef struct {
    size_t nodes;      /* elements, comments, instructions and references */
    size_t elements;
    size_t texts;
    size_t attributes;
    size_t levels;     /* of elements */
} Size;

/* Numbers of names by the addresses of their strings, which libxml2 stores once per document. */
typedef struct {
    const unsigned char *name;
    const Namespace *space;
    int32_t number;
} Name;

typedef struct {
    Name *known;
    uint32_t *slots; /* 1 + index of a known one */
    uint32_t used;
    size_t mask;
} Names;

/* The arrays of a page of n elements, r runs, m blocks, a attributes and d different ones, by types from the widest on. */
#define FLAT_ARRAYS(DO) \
    DO(int64_t, run_offset, r + 1) DO(int64_t, value_begin, d + 1) \
    DO(int32_t, parent, n) DO(int32_t, end, n) DO(int32_t, depth, n) DO(int32_t, run_begin, n) DO(int32_t, run_end, n) \
    DO(int32_t, block_begin, n) DO(int32_t, block_end, n) DO(int32_t, attribute_begin, n + 1) \
    DO(int32_t, run_node, r) DO(int32_t, block_node, m) DO(int32_t, block_run_begin, m) DO(int32_t, block_run_end, m) \
    DO(int32_t, first, a) DO(int32_t, place, d) DO(int32_t, name_of, d) \
    DO(int16_t, tag, n) DO(uint8_t, has_ink, r) DO(uint8_t, has_unseen, r)

/* Nodes made from those of lexbor. */
typedef struct Chunk Chunk;

/* Make nodes of the subtree of an element of selectolax, and count them: 1, 0 for a name that is not among the known ones,
   -1 with an exception. */
int copy_lexbor(const Node **root, Size *size, PyObject *node_of_root, PyObject *known_tags, Chunk **chunks);

void chunks_free(Chunk **chunks);

/* All that is known while a tree is read. */
typedef struct {
    Size size;
#define FIELD(type, name, count) type *name;
    FLAT_ARRAYS(FIELD)
#undef FIELD
    int32_t *container;   /* n: block-level element around each element */
    size_t n, r, m, a, d; /* so far */
    int32_t content_in_head; /* the first element right in the first head that does not stay there, 0 for none */
    Bytes text, values;
    PyObject *tag_ids; /* of winnow.page.tree */
    Names tags, attribute_names;
    uint32_t *table; /* 1 + number of a different attribute, by hash of name and value */
    size_t table_mask;
    uint64_t seed;
    PyObject *known_attributes; /* names that lexbor knows, by its numbers: a list of bytes; NULL for libxml2 */
    PyObject *unknown, *name_numbers, *tags_found; /* tag_ids that occur */
    PyObject *raw_texts; /* of scripts, style sheets and titles, by element */
    char *memory;        /* of the arrays */
} Flat;

/* Append bytes to a buffer; 0, or -1 with an exception. */
int append_bytes(Bytes *to, const void *from, size_t length);

/* A new object with the same bytes. */
PyObject *bytes_of(const Bytes *bytes);

/* Append the text of a node; 0, or -1 with an exception. */
int append_content(Bytes *to, const Node *node);

/* lxml's name of a node: "{namespace}name". */
PyObject *full_name(const unsigned char *name, const Namespace *space);

/* The number of an element's name in tag_ids, 0 for unknown ones; -1 with an exception. */
int32_t tag_of(Flat *flat, const Node *node);

/* Store an attribute of the current element; 0, or -1 with an exception. */
int add_attribute(Flat *flat, const unsigned char *of, const Namespace *space, const unsigned char *value, size_t length);

/* Store the attributes of lexbor's element: 1, 0 for a name that is not known, -1 with an exception. */
int read_lexbor_attributes(Flat *flat, const void *element);

/* Store the attributes of an element: 1, 0 if a value holds entities, -1 with an exception. */
int read_attributes(Flat *flat, const Node *node);

/* What an element is by its tag: bits, as winnow.page.page has them. */
enum { BLOCK_LEVEL = 1, UNSEEN_TEXT = 2, RAW_TEXT = 4, HEAD = 8, STAYS_IN_HEAD = 16 };

/* 1, 0 if an attribute holds entities, -1 with an exception. */
int read_tree(Flat *flat, const Node *root, const Array *kinds, const uint8_t *properties);

#endif
