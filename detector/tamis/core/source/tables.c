/* The data tables of a page, for tamis.output.tables. */
#include "page.h"

/* What tags stand for, bits from FIRST_TABLE_ROLE on. */
enum { CELL, TABLE, ROW, CODE, AROUND, HEAD = AROUND, HEAVY, ROLES };

enum { MAX_BLOCKS_PER_VALUE = 2 }; /* a cell with more text blocks holds no single value */
enum { VALUES_PER_PART = 5 };      /* cells with text per cell with a part of a page, at least, where a table has no head */

typedef struct {
    int32_t around[AROUND]; /* the innermost elements with these roles, maybe itself; -1 for none */
    int32_t cells, filled_cells, heavy_cells, heavy_blocks, rows; /* in it */
    uint8_t has_head, has_columns, has_table, is_heavy;
} Element;

/* Find what is around an element with some roles; that of its parent is known. */
static void look_around(Element *elements, const PageArrays *page, int32_t i, uint32_t roles)
{
    static const int32_t nothing[AROUND] = {-1, -1, -1, -1};
    int role;
    memcpy(elements[i].around, i ? elements[page->parent[i]].around : nothing, sizeof(nothing));
    for (role = 0; role < AROUND && roles; role++) {
        if (HAS(roles, role)) {
            elements[i].around[role] = i;
        }
    }
}

static int32_t blocks_in(const PageArrays *page, int32_t element)
{
    return page->block_end[element] - page->block_begin[element];
}

/* Count an element in the table, row and cells around it. */
static void count_part(Element *elements, const PageArrays *page, int32_t i, uint32_t roles)
{
    int32_t row = elements[i].around[ROW], cell = elements[i].around[CELL];
    Element *table = &elements[elements[i].around[TABLE]];
    int is_heavy = HAS(roles, HEAVY) || (HAS(roles, CELL) && blocks_in(page, i) > MAX_BLOCKS_PER_VALUE);
    table->has_head |= HAS(roles, HEAD);
    if (HAS(roles, TABLE) && i && elements[page->parent[i]].around[TABLE] >= 0) {
        elements[elements[page->parent[i]].around[TABLE]].has_table = 1;
        is_heavy = 1;
    }
    if (HAS(roles, CELL)) {
        table->cells++;
        table->filled_cells += blocks_in(page, i) > 0;
        if (row >= 0 && elements[row].around[TABLE] >= 0) { /* broken markup may have its rows around its table */
            Element *of_row = &elements[elements[row].around[TABLE]];
            of_row->rows += !elements[row].cells;
            of_row->has_columns |= elements[row].cells++ > 0;
        }
    }
    while (is_heavy && cell >= 0 && !elements[cell].is_heavy && elements[cell].around[TABLE] >= 0) {
        elements[cell].is_heavy = 1;
        elements[elements[cell].around[TABLE]].heavy_cells++;
        elements[elements[cell].around[TABLE]].heavy_blocks += blocks_in(page, cell);
        cell = cell ? elements[page->parent[cell]].around[CELL] : -1;
    }
}

/* Whether the cells of a table hold values, but for a few with parts of a page or tables: more if it has a head and no tables
   in it, otherwise fewer, and not most of its text. */
static int holds_values(const PageArrays *page, int32_t table, const Element *counts)
{
    return counts->has_head && !counts->has_table
               ? 2 * counts->heavy_cells <= counts->cells
               : VALUES_PER_PART * counts->heavy_cells <= counts->filled_cells
                     && 2 * counts->heavy_blocks <= blocks_in(page, table);
}

/* data_tables(page, rows: int32[n]), of zeros: writes how many rows each element has that may be a
   data table, as far as the elements and blocks in it tell; those of one row may be layout. */
PyObject *core_data_tables(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array rows = {0};
    SCOPED(free_memory) Element *elements = NULL;
    int32_t i;
    if (!PyArg_ParseTuple(arguments, "O&O&", in_page, &page, out_4, &rows)
        || !check_arrays(rows.length == page.n)) {
        return NULL;
    }
    if ((elements = calloc((size_t)page.n + 1, sizeof(Element))) == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < (int32_t)page.n; i++) {
        uint32_t of_tag = core_tables.tag_sets[page.tag[i]] >> FIRST_TABLE_ROLE & ((1u << ROLES) - 1);
        look_around(elements, &page, i, of_tag);
        if (of_tag && elements[i].around[TABLE] >= 0) {
            count_part(elements, &page, i, of_tag);
        }
    }
    for (i = 0; i < (int32_t)page.n; i++) {
        const Element *table = &elements[i];
        if (table->has_columns && table->around[CODE] < 0 && holds_values(&page, i, table)) {
            ITEMS(rows, int32_t)[i] = table->rows;
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
