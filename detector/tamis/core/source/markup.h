/* Items of markup, which tamis.output.markup and tamis.output.text are written from. */
#ifndef TAMIS_MARKUP_H
#define TAMIS_MARKUP_H

#include "page.h"

enum { MAX_NESTING = 128 };         /* tamis.output.markup has the same number */
enum { LINE_END = -2, CUT = -1 };   /* sources of line breaks: see tamis.output.markup */

/* The arguments of core.join_items. */
typedef struct {
    PageArrays page;
    Array elements, kinds, runs; /* int32[k], ascending; uint8[k]; int32[s], ascending */
} Kept;

void kept_release(Kept *kept);

/* Whether the arrays fit each other; sets a ValueError if not. */
int check_kept(const Kept *kept);

/* Join elements and runs to items: write what each is made of, and the item after its contents, to arrays of k + 2 s
   numbers. Returns the number of items. */
int32_t join_items(const Kept *kept, int32_t *source, int32_t *ends);

#endif
