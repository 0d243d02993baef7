/* Which selectors may choose some elements of a page, the subjects, by the names in them. */
#ifndef TAMIS_STYLE_NAMES_H
#define TAMIS_STYLE_NAMES_H

#include "flatten.h"
#include "page.h"

enum { NAME_BITS = 1 << 14 };

/* Classes, ids, and names of elements: a bit of each, by a hash. */
typedef struct {
    uint64_t bits[NAME_BITS / 64];
} Names;

/* The names on a page. */
typedef struct {
    PageArrays page;
    Span tags, untagged; /* names of tags, and of elements without a tag, a line each */
    int classes, ids;    /* numbers of the attributes */
    Names all;
} PageNames;

/* The names of subjects, noted once there is a rule that they are needed for. */
typedef struct {
    const PageNames *page;
    const uint8_t *chosen; /* bool by element */
    int is_lax;            /* other states of the subjects count, too, in which they have other classes */
    int is_noted;
    Names names;
} Subjects;

/* Note the names of chosen elements (bool by element), or of all of them; 0, or -1 without memory. */
int note_names(Names *names, const PageNames *page, const uint8_t *chosen);

/* Append the selectors of a list that may choose a subject, or something around one, each followed by a character 1. 1, 0 if
   there are none, or -1 without memory. */
int put_selectors(Bytes *to, Subjects *subjects, Span list, int of_subjects);

/* Append a text and a character after it; 1, or -1 without memory. */
int put(Bytes *to, Span text, unsigned char after);

Span without_spaces(Span text);

#endif
