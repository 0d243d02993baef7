/* The part of libxml2's nodes that is read, as in its header tree.h, and of lxml's elements, as in its lxml.etree.h. */
#ifndef WINNOW_NODES_H
#define WINNOW_NODES_H

#include "core.h"

enum {
    ELEMENT = 1,
    ATTRIBUTE = 2,
    TEXT = 3,
    CDATA = 4,
    REFERENCE = 5,
    INSTRUCTION = 7,
    COMMENT = 8,
    XINCLUDE_START = 19,
    XINCLUDE_END = 20
};

typedef struct Namespace {
    struct Namespace *next;
    int type;
    const unsigned char *href;
    const unsigned char *prefix;
} Namespace;

/* An element, a piece of text or the like; of an attribute's node the fields end with its name space. */
typedef struct Node {
    void *private;
    int type;
    const unsigned char *name;
    struct Node *children;
    struct Node *last;
    struct Node *parent;
    struct Node *next;
    struct Node *prev;
    void *document;
    const Namespace *space;
    const unsigned char *content;
    struct Node *properties;
} Node;

typedef struct {
    PyObject_HEAD
    PyObject *document;
    Node *node;
    PyObject *tag;
} LxmlElement;

#define IS_TEXT(node) ((node)->type == TEXT || (node)->type == CDATA)
#define IS_NODE(node) ((node)->type == COMMENT || (node)->type == INSTRUCTION || (node)->type == REFERENCE)

#endif
