/* The arrays of tamis.page.Page, checked once for all functions that take them. */
#ifndef TAMIS_PAGE_H
#define TAMIS_PAGE_H

#include "core.h"

/* The a attributes of a page of n elements, and the d distinct ones, tamis.page.attributes.AttributeTable: slices and values lie
   inside what they are of, names are below `names`, and indices below a. */
typedef struct {
    Py_ssize_t n, a, d, names;
    const unsigned char *data;
    const int64_t *begin;                  /* d + 1 */
    const int32_t *name_of, *first_index;  /* d */
    const int32_t *of_element, *first;     /* n + 1, where those of an element begin; a: the first attribute that is equal */
} AttributeValues;

/* Of n elements, m blocks, r runs and a attributes. The parent of an element other than the first comes before it, ends come
   after, slices and numbers lie inside what they are of, tags have entries in tables, and no block is without runs. */
typedef struct {
    Py_ssize_t n, m, r, a;
    const int16_t *tag;
    const int32_t *parent, *end, *depth, *run_begin, *run_end, *block_begin, *block_end; /* n */
    const int32_t *run_node;                                                             /* r */
    const int32_t *block_node, *block_run_begin, *block_run_end;                         /* m */
    const int32_t *attribute_begin, *first; /* those of `values` */
    const int64_t *run_offset;              /* r + 1, in characters of the text */
    const uint8_t *is_nonblank;             /* r */
    Span text;
    AttributeValues values;
} PageArrays;

/* Converters as in core.h; they take the capsules of Page.arrays and AttributeTable.arrays. */
int in_page(PyObject *capsule, void *page);
int in_values(PyObject *capsule, void *values);

/* Borrow the texts of a dictionary by number, below `count`; `size` grows by their length, and spans are NULL without any.
   0 with an exception set. */
int borrow_texts(PyObject *texts, Py_ssize_t count, Span **spans, size_t *size);

/* Whether these are slices of `length` items. */
int are_slices(const int32_t *begin, const int32_t *end, Py_ssize_t count, Py_ssize_t length);

/* Whether all numbers, of 4 or 8 bytes, are below n. */
int are_below(const Array *numbers, Py_ssize_t n);

static inline Span value_of(const AttributeValues *values, Py_ssize_t number)
{
    return (Span){values->data + values->begin[number], values->data + values->begin[number + 1]};
}

/* The next word of a text between white space, empty at its end; the text moves past it. */
Span next_word(Span *text);

/* Write a text with "#" for each number in it; returns where it ends. */
unsigned char *without_numbers(Span text, unsigned char *to);

/* Find the container of each element: the outermost of those that hold exactly the same blocks. */
void find_containers(const PageArrays *page, int32_t *container);

#endif
