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

/* All arrays, while a tree is read. */
typedef struct {
    Size size;
    /* elements */
    int16_t *tag;
    int32_t *parent, *end, *depth, *run_begin, *run_end, *block_begin, *block_end, *attribute_begin, *container;
    /* runs and blocks: at most one of each a text node */
    int64_t *run_offset;
    int32_t *run_node, *block_node, *block_run_begin, *block_run_end;
    uint8_t *has_ink, *has_unseen;
    /* attributes */
    int32_t *first, *place, *name_of;
    int64_t *value_begin;
    size_t n, r, m, a, d; /* elements, runs, blocks, attributes, and different ones of these so far */
    Bytes text, values, title;
    int has_title;
    PyObject *tag_ids; /* of winnow.page.tags */
    Names tags, attribute_names;
    uint32_t *table; /* 1 + number of a different attribute, by hash of name and value */
    size_t table_mask;
    uint64_t seed;
    PyObject *unknown, *name_numbers, *name_list;
    PyObject *raw_texts; /* of scripts and style sheets, by element */
    char *memory;        /* of the arrays */
} Flat;

/* Append bytes to a buffer; 0, or -1 with an exception. */
int append_bytes(Bytes *to, const void *from, size_t length);

/* A new object with the same bytes. */
PyObject *bytes_of(const Bytes *bytes);

/* Append the text of a node; 0, or -1 with an exception. */
int append_content(Bytes *to, const Node *node);

/* The node after another in the order of the document, NULL behind the last one in `root`; `depth` follows. */
const Node *next_node(const Node *node, const Node *root, size_t *depth);

/* lxml's name of a node: "{namespace}name". */
PyObject *full_name(const unsigned char *name, const Namespace *space);

/* The number of an element's name in tag_ids, 0 for unknown ones; -1 with an exception. */
int32_t tag_of(Flat *flat, const Node *node);

/* Store the attributes of an element: 1, 0 if a value holds entities, -1 with an exception. */
int read_attributes(Flat *flat, const Node *node);

/* 1, 0 if an attribute holds entities, -1 with an exception. */
int read_tree(Flat *flat, const Node *root, int32_t title, int32_t image, const Array *block_level,
              const Array *unseen, const Array *raw, const uint8_t *properties);

#endif
