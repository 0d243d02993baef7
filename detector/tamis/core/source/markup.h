/* Items of markup, which tamis.output.markup and tamis.output.text are written from. */
#ifndef TAMIS_MARKUP_H
#define TAMIS_MARKUP_H

#include "page.h"

/* tamis.output.markup has these numbers from the module. */
enum { MAX_NESTING = 128 };
enum { LINE_END = -2, CUT = -1 }; /* sources of line breaks */

/* What an element is in plain text, and bits of what else it is. */
enum { INLINE, CODE_LINE, QUOTATION, RUBY, READING, PARENTHESIS, WRITTEN, BREAK, BLOCK, PARAGRAPH, CODE, LIST, ITEM, TABLE,
       ROW, CELL, ROLE = CELL };
enum {
    IS_WRITTEN = 1 << 4, IS_VOID = 1 << 5, IS_BLOCK = 1 << 6, IS_LINK = 1 << 7, IS_LINE = 1 << 8, /* in markup */
    IS_BREAK = 1 << 9, IS_RULE = 1 << 10, IS_CELL = 1 << 11, IS_PICTURE = 1 << 12, IS_MEDIA_PART = 1 << 13, /* by its tag */
    IN_PLAYER = 1 << 14, IN_CODE = 1 << 15, IS_LINE_OF_CODE = 1 << 16, IN_LAYOUT = 1 << 17, IS_OMITTED = 1 << 18
};

/* What is kept of a page: k elements and s runs, whose numbers ascend. */
typedef struct {
    PageArrays page;
    Array kinds;              /* uint32[n] */
    int32_t *elements, *runs; /* in one piece of memory */
    int32_t k, s;
} Kept;

void kept_release(Kept *kept);

/* Fill in the numbers of the elements (bool[n]) and runs (bool[r]) that are kept, but for elements without one of some bits of
   `kinds`, 0 for all. 0 with an exception set if the arrays do not fit each other. */
int keep(Kept *kept, const Array *elements, const Array *runs, uint32_t kinds);

static inline uint32_t kind_of(const Kept *kept, int32_t number)
{
    return ITEMS(kept->kinds, uint32_t)[kept->elements[number]];
}

/* Join elements and runs to items: write what each is made of, and the item after its contents, to arrays of k + 2 s
   numbers. Returns the number of items. */
int32_t join_items(const Kept *kept, int32_t *source, int32_t *ends);

/* What is kept as items, the texts that they are written from, and the text that is written. */
typedef struct {
    Kept kept;
    Span *run_texts, *element_texts; /* of runs and elements that are not written as they stand; NULL for none */
    int32_t *source, *ends, count;   /* of the items */
    Span unread;                     /* of the page's text, from a character on */
    int64_t character;
    char *begin, *to; /* with room for all items */
} Text;

void text_release(Text *text);

/* Read the arguments of core.plain_text, and join items of elements with one of some bits of kinds, 0 for all; 0 with an
   exception set. */
int text_read(Text *text, PyObject *arguments, uint32_t kinds);

/* A run is WRITTEN, a line break that the page does not have a BREAK. */
uint32_t role_at(const Text *text, int32_t item);

/* What is written instead of an element or a run; without a beginning if it is written as it stands. */
Span written_instead(const Text *text, int32_t item);

/* The text of a run, or what is written instead of it or of an element. */
Span text_at(Text *text, int32_t item);

/* The page's element that an item is; -1 for the item -1. */
static inline int32_t element_at(const Text *text, int32_t item)
{
    return item < 0 ? -1 : text->kept.elements[text->source[item]];
}

static inline void put_span(Text *text, Span span)
{
    memcpy(text->to, span.begin, (size_t)(span.end - span.begin));
    text->to += span.end - span.begin;
}

/* Write the lines of a block of code: an element for each line is one, with or without a line feed after it. */
void write_code(Text *text, int32_t block);

#endif
