/* Which selectors may choose some elements of a page, the subjects, by the names in them. */
#ifndef TAMIS_STYLE_NAMES_H
#define TAMIS_STYLE_NAMES_H

#include "page.h"

enum { NAME_BITS = 1 << 14 };

/* Classes, ids, and names of elements and attributes: a bit of each, by a hash. */
typedef struct {
    uint64_t bits[NAME_BITS / 64];
} Names;

/* A name of attributes: the mark of the words in its values, 0 for none; and whether it is noted of the page and of subjects. */
typedef struct {
    Span name;
    unsigned char mark, is_noted[2];
} Attribute;

/* The names on a page and of its subjects, noted once there is a rule that they are needed for. */
typedef struct {
    PageArrays page;
    const uint8_t *subjects; /* bool by element */
    Span tag_names, others;               /* names of tags, and of the page's elements without a tag, a line each */
    int is_lax;                           /* other states of the subjects count, too, in which they have other classes */
    Attribute *attributes;
    uint8_t *is_of_subject; /* by first attribute */
    Names names[2];         /* of the page, of subjects */
    int is_noted;
} StyleNames;

/* Read the names of attributes, a line each; 0, or -1 without memory. What stands above them is given. */
int style_names_read(StyleNames *style, Span lines);

void style_names_release(StyleNames *style);

/* Whether a selector may choose a subject, or something around one: all its names are on the page, those of its last part on
   a subject. In another state it may have other classes, ids and attributes. What stands in brackets or parentheses may be
   anything. */
int style_names_may_match(StyleNames *style, Span selector, int of_subjects);

/* Whether a text is a word. */
int is_word(Span text, const char *word);

#endif
