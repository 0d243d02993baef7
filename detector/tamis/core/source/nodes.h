/* The part of the parsers' nodes that is read: of libxml2, as in its header tree.h, of lxml, as in its lxml.etree.h, and of
   lexbor 2 and 3. */
#ifndef TAMIS_NODES_H
#define TAMIS_NODES_H

#include "core.h"

/* Types of nodes, which both parsers number alike; all others are markup without text. */
enum { ELEMENT = 1, ATTRIBUTE = 2, TEXT = 3, CDATA = 4 };

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

typedef struct LexborNode {
    void *events;
    uintptr_t local_name; /* number of a name that lexbor knows, or the address of its entry */
    uintptr_t prefix, space;
    void *document;
    struct LexborNode *next, *previous, *parent, *first_child, *last_child;
    void *user;
    int type;
} LexborNode;

typedef struct {
    const unsigned char *data;
    size_t length;
} LexborString;

typedef struct {
    LexborNode node;
    LexborString text;
} LexborText;

typedef struct LexborAttribute {
    LexborNode node;
    uintptr_t upper_name, qualified_name;
    const LexborString *value;
    void *owner;
    struct LexborAttribute *next;
} LexborAttribute;

typedef struct {
    LexborNode node;
    uintptr_t upper_name, qualified_name;
    const LexborString *is_value;
    const LexborAttribute *first_attribute, *last_attribute, *id, *classes;
    void *style, *list;
    int condition, state;
    const LexborNode *content; /* of a template */
} LexborElement;

enum {
    SHORT_NAME = 16,   /* longer names are not within their entry */
    MOST_KNOWN = 4096, /* a greater number is an address */
};

/* The entry of a name that lexbor does not know. */
typedef struct {
    union {
        const unsigned char *at;
        unsigned char here[SHORT_NAME + 1];
    } name;
    size_t length;
} LexborName;

/* The tree of a parser. */
typedef struct {
    const void *root;
    int is_lexbor;
    Array known_tags, known_attributes; /* 1 + numbers of names, by lexbor's numbers; 0 for numbers without a name */
    uintptr_t template;                 /* lexbor's number of this name */
} Tree;

/* A converter as in core.h: takes an element of lxml, or a tuple of one of selectolax and the arrays above. */
int in_tree(PyObject *object, void *tree);

void tree_release(Tree *tree);

/* What a node is, and where its tree goes on from there. */
typedef struct {
    int is_element, is_text;
    const void *children, *next;
} Step;

/* Whether a node of lexbor is a template, in HTML, where they have contents. */
static inline int is_template(const Tree *tree, const LexborNode *node)
{
    return node->local_name == tree->template && node->space == ((const LexborNode *)tree->root)->space;
}

static inline Step step_from(const Tree *tree, const void *node)
{
    const LexborNode *of_lexbor = node;
    const Node *of_libxml2 = node;
    int type = tree->is_lexbor ? of_lexbor->type : of_libxml2->type;
    Step step = {type == ELEMENT, type == TEXT || type == CDATA, NULL, NULL};
    step.next = tree->is_lexbor ? (const void *)of_lexbor->next : of_libxml2->next;
    if (step.is_element) {
        step.children = tree->is_lexbor ? (const void *)of_lexbor->first_child : of_libxml2->children;
        if (tree->is_lexbor && step.children == NULL && is_template(tree, node) && ((const LexborElement *)node)->content) {
            step.children = ((const LexborElement *)node)->content->first_child;
        }
    }
    return step;
}

static inline int is_text(const Tree *tree, const void *node)
{
    return node != NULL && step_from(tree, node).is_text;
}

static inline Span span_in_lexbor(const LexborString *text)
{
    return text && text->data ? (Span){text->data, text->data + text->length} : (Span){NULL, NULL};
}

static inline Span text_of(const Tree *tree, const void *node)
{
    return tree->is_lexbor ? span_in_lexbor(&((const LexborText *)node)->text) : span_of(((const Node *)node)->content);
}

#endif
