/* The kept elements and runs of a page as items of markup in document order, for tamis.output.markup. */
#include "markup.h"

enum { IS_WRITTEN = 1, IS_VOID = 2, IS_BLOCK = 4, IS_LINK = 8, IS_LINE = 16 }; /* bits of an element: _KINDS */

typedef struct {
    const PageArrays *page;
    const int32_t *elements, *runs;
    const uint8_t *kinds;
    int32_t *source, *ends;
    int32_t count, k; /* of the items, of the elements */
    struct {
        int32_t number, item;
    } open[MAX_NESTING];
    int depth, is_separated; /* whether a block-level element has begun or ended since the last text */
    int is_broken, has_text; /* whether one that styles show as a block has since that text, and whether there is any */
    Py_ssize_t block;        /* of the last text */
} Items;

static void add_item(Items *items, int32_t source)
{
    items->source[items->count] = source;
    items->ends[items->count] = items->count + 1;
    items->count++;
}

/* Whether all items after one are white space and elements that hold nothing else. */
static int is_blank_behind(const Items *items, int32_t item)
{
    while (++item < items->count) {
        int32_t source = items->source[item];
        if (source < 0 || (source < items->k && items->kinds[source] & IS_VOID)
            || (source >= items->k && items->page->is_nonblank[items->runs[source - items->k]])) {
            return 0;
        }
    }
    return 1;
}

/* Leave an element out, but not what it holds. */
static void dissolve(Items *items, int32_t item)
{
    for (; item + 1 < items->count; item++) {
        items->source[item] = items->source[item + 1];
        items->ends[item] = items->ends[item + 1] - 1;
    }
    items->count--;
}

/* Note where an element begins or ends. */
static void add_border(Items *items, uint8_t kind)
{
    if (kind & IS_BLOCK) {
        items->is_separated = 1;
        items->is_broken = items->has_text = 0;
    }
    items->is_broken |= (kind & IS_LINE) != 0;
}

/* Close the elements that end before an element or run: those whose end, in elements or runs, is not after it. */
static void close_before(Items *items, const int32_t *ends, int32_t place)
{
    for (; items->depth && ends[items->elements[items->open[items->depth - 1].number]] <= place; items->depth--) {
        int32_t number = items->open[items->depth - 1].number, item = items->open[items->depth - 1].item;
        add_border(items, items->kinds[number]);
        items->ends[item] = items->count;
        if (items->kinds[number] & IS_LINK && is_blank_behind(items, item)) { /* such as around a picture that was left out */
            dissolve(items, item);
        }
    }
}

static void add_element(Items *items, int32_t number)
{
    uint8_t kind = items->kinds[number];
    if (!(kind & IS_WRITTEN)) {
        return;
    }
    add_border(items, kind);
    if (kind & IS_VOID) {
        add_item(items, number);
    }
    else if (items->depth < MAX_NESTING) {
        items->open[items->depth].number = number;
        items->open[items->depth++].item = items->count;
        add_item(items, number);
    }
    else if (kind & IS_BLOCK) {
        add_item(items, CUT);
    }
}

/* Add a run, after a line break where it is of another block than the last one and the element between them was cut. */
static void add_run(Items *items, int32_t number, Py_ssize_t *block)
{
    const PageArrays *page = items->page;
    int32_t run = items->runs[number];
    while (*block < page->m && page->block_run_end[*block] <= run) {
        ++*block;
    }
    if (*block < page->m && page->block_run_begin[*block] <= run) {
        if (*block != items->block && !items->is_separated) {
            add_item(items, CUT);
        }
        else if (items->is_broken && items->has_text && items->page->is_nonblank[run]) {
            add_item(items, LINE_END);
        }
        items->block = *block;
        items->is_separated = 0;
        items->is_broken &= !items->page->is_nonblank[run];
        items->has_text |= items->page->is_nonblank[run];
    }
    add_item(items, items->k + number);
}

void kept_release(Kept *kept)
{
    array_release(&kept->elements);
    array_release(&kept->kinds);
    array_release(&kept->runs);
}

static int are_ascending(const Array *numbers, Py_ssize_t below)
{
    const int32_t *number = ITEMS(*numbers, int32_t);
    Py_ssize_t k;
    for (k = 1; k < numbers->length; k++) {
        if (number[k] <= number[k - 1]) {
            return 0;
        }
    }
    return are_below(numbers, below);
}

int check_kept(const Kept *kept)
{
    return check_arrays(kept->kinds.length == kept->elements.length
                        && kept->elements.length + 2 * kept->runs.length <= INT32_MAX
                        && are_ascending(&kept->elements, kept->page.n) && are_ascending(&kept->runs, kept->page.r));
}

int32_t join_items(const Kept *kept, int32_t *source, int32_t *ends)
{
    const PageArrays *page = &kept->page;
    Items items = {.page = page, .elements = ITEMS(kept->elements, int32_t), .runs = ITEMS(kept->runs, int32_t),
                   .kinds = ITEMS(kept->kinds, uint8_t), .source = source,
                   .ends = ends, .k = (int32_t)kept->elements.length, .is_separated = 1, .block = -1};
    Py_ssize_t block = 0;
    int32_t next = 0, run = 0;
    while (next < kept->elements.length || run < kept->runs.length) {
        int is_element = run == kept->runs.length
                         || (next < kept->elements.length && page->run_begin[items.elements[next]] <= items.runs[run]);
        if (is_element) {
            close_before(&items, page->end, items.elements[next]);
            add_element(&items, next++);
        }
        else {
            close_before(&items, page->run_end, items.runs[run]);
            add_run(&items, run++, &block);
        }
    }
    close_before(&items, page->end, (int32_t)page->n);
    return items.count;
}

/* join_items(page, elements: int32[k], kinds: uint8[k], runs: int32[s], source: int32[k + 2 s], ends of as
              many) -> number of items

   Writes what each item is made of: the number of an element, k + the number of a run, or why a line break is put in;
   and the item after its contents. Elements and runs are ascending. */
PyObject *core_join_items(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(kept_release) Kept kept = {0};
    SCOPED(array_release) Array source = {0}, ends = {0};
    int32_t count;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&", in_page, &kept.page, in_4, &kept.elements, in_1, &kept.kinds, in_4,
                          &kept.runs, out_4, &source, out_4, &ends)
        || !check_kept(&kept)
        || !check_arrays(ends.length == source.length && source.length == kept.elements.length + 2 * kept.runs.length)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    count = join_items(&kept, ITEMS(source, int32_t), ITEMS(ends, int32_t));
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(count);
}
