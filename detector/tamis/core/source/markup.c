/* What is kept of a page, and its items of markup in document order, for tamis.output.markup. */
#include "markup.h"

#define NAMES(DO) \
    DO(MAX_NESTING) DO(LINE_END) DO(CUT) \
    DO(INLINE) DO(CODE_LINE) DO(QUOTATION) DO(RUBY) DO(READING) DO(PARENTHESIS) DO(WRITTEN) DO(BREAK) DO(BLOCK) DO(PARAGRAPH) \
    DO(CODE) DO(LIST) DO(ITEM) DO(TABLE) DO(ROW) DO(CELL) DO(ROLE) \
    DO(IS_WRITTEN) DO(IS_VOID) DO(IS_BLOCK) DO(IS_LINK) DO(IS_LINE) DO(IS_BREAK) DO(IS_RULE) DO(IS_CELL) DO(IS_PICTURE) \
    DO(IS_MEDIA_PART) DO(IN_PLAYER) DO(IN_CODE) DO(IS_LINE_OF_CODE) DO(IN_LAYOUT) DO(IS_OMITTED)

int core_name_items(PyObject *module)
{
#define HAS_FAILED(name) || PyModule_AddIntConstant(module, #name, name) < 0
    return 0 NAMES(HAS_FAILED) ? -1 : 0;
}

typedef struct {
    const Kept *kept;
    const PageArrays *page;
    int32_t *source, *ends;
    int32_t count; /* of the items */
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
static int is_blank_after(const Items *items, int32_t item)
{
    while (++item < items->count) {
        int32_t source = items->source[item];
        int32_t k = items->kept->k;
        if (source < 0 || (source < k && kind_of(items->kept, source) & IS_VOID)
            || (source >= k && items->page->is_nonblank[items->kept->runs[source - k]])) {
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
static void add_border(Items *items, uint32_t kind)
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
    for (; items->depth && ends[items->kept->elements[items->open[items->depth - 1].number]] <= place; items->depth--) {
        int32_t item = items->open[items->depth - 1].item;
        uint32_t kind = kind_of(items->kept, items->open[items->depth - 1].number);
        add_border(items, kind);
        items->ends[item] = items->count;
        if (kind & IS_LINK && is_blank_after(items, item)) { /* such as around a picture that was left out */
            dissolve(items, item);
        }
    }
}

static void add_element(Items *items, int32_t number)
{
    uint32_t kind = kind_of(items->kept, number);
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
    int32_t run = items->kept->runs[number];
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
    add_item(items, items->kept->k + number);
}

void kept_release(Kept *kept)
{
    array_release(&kept->kinds);
    free(kept->elements);
}

int keep(Kept *kept, const Array *elements, const Array *runs, uint32_t kinds)
{
    const PageArrays *page = &kept->page;
    int32_t i;
    if (!check_arrays(elements->length == page->n && kept->kinds.length == page->n && runs->length == page->r
                      && page->n + 2 * page->r <= INT32_MAX)) {
        return 0;
    }
    if ((kept->elements = malloc((size_t)(page->n + page->r + 1) * sizeof *kept->elements)) == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (i = 0; i < (int32_t)page->n; i++) {
        if (ITEMS(*elements, uint8_t)[i] && (!kinds || ITEMS(kept->kinds, uint32_t)[i] & kinds)) {
            kept->elements[kept->k++] = i;
        }
    }
    kept->runs = kept->elements + kept->k;
    for (i = 0; i < (int32_t)page->r; i++) {
        if (ITEMS(*runs, uint8_t)[i]) {
            kept->runs[kept->s++] = i;
        }
    }
    return 1;
}

int32_t join_items(const Kept *kept, int32_t *source, int32_t *ends)
{
    const PageArrays *page = &kept->page;
    Items items = {.kept = kept, .page = page, .source = source, .ends = ends, .is_separated = 1, .block = -1};
    Py_ssize_t block = 0;
    int32_t next = 0, run = 0;
    while (next < kept->k || run < kept->s) {
        if (run == kept->s || (next < kept->k && page->run_begin[kept->elements[next]] <= kept->runs[run])) {
            close_before(&items, page->end, kept->elements[next]);
            add_element(&items, next++);
        }
        else {
            close_before(&items, page->run_end, kept->runs[run]);
            add_run(&items, run++, &block);
        }
    }
    close_before(&items, page->end, (int32_t)page->n);
    return items.count;
}

/* join_items(page, kinds: uint32[n], elements: bool[n], runs: bool[r], source: int32[k + 2 s], ends of as many)
              -> number of items

   Writes what each item is made of: the number of one of k elements, k + the number of one of s runs, or why a line break is
   put in; and the item after its contents. */
PyObject *core_join_items(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(kept_release) Kept kept = {0};
    SCOPED(array_release) Array elements = {0}, runs = {0}, source = {0}, ends = {0};
    int32_t count;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&", in_page, &kept.page, in_4, &kept.kinds, in_1, &elements, in_1, &runs,
                          out_4, &source, out_4, &ends)
        || !keep(&kept, &elements, &runs, 0)
        || !check_arrays(ends.length == source.length && source.length == kept.k + 2 * kept.s)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    count = join_items(&kept, ITEMS(source, int32_t), ITEMS(ends, int32_t));
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(count);
}

/* The first marked item from one on, which is `at` unless that is before it; `count` without any. */
static inline int32_t next_marked(const uint8_t *marks, Py_ssize_t count, int32_t at, int32_t from)
{
    const uint8_t *found = at < from && from < count ? memchr(marks + from, 1, (size_t)(count - from)) : NULL;
    return at >= from ? at : found ? (int32_t)(found - marks) : (int32_t)count;
}

/* Bits of what is noted of an element: kept_items keeps it; it is seen; it holds something kept; it is in such code. */
enum { STAYS = 1, IS_SEEN = 2, IS_FILLED = 4, IN_FILLED_CODE = 8 };

/* Note what of the elements stays with some runs and media, see tamis.output.markup.kept_items, and the nearest block-level
   element around each. */
static void note_elements(const PageArrays *page, const uint32_t *kinds, const uint8_t *media, const uint8_t *runs,
                          const uint8_t *in_block, uint8_t *notes, int32_t *border)
{
    int32_t i, run = 0, text = -1, ink = -1, medium = -1, rule = -1, after_rule = (int32_t)page->r;
    uint32_t separators = 0; /* those that stay here: breaks and rules after text that does, breaks after a picture */
    for (i = 0; i < (int32_t)page->n; i++) {
        uint32_t kind = kinds[i];
        uint8_t around = i ? notes[page->parent[i]] : IS_SEEN;
        int is_seen = around & IS_SEEN && !(core_tables.tag_sets[page->tag[i]] & TAG_UNSEEN_TEXT);
        int is_shown = is_seen && (kind & (IS_OMITTED | IN_PLAYER)) != IS_OMITTED, is_in_filled = is_shown && around & IS_FILLED;
        int has_content, is_filled, is_in_code, stays;
        text = next_marked(runs, page->r, text, page->run_begin[i]);
        medium = next_marked(media, page->n, medium, i);
        for (; run < page->run_begin[i]; run++) {
            separators = !in_block[run] ? separators : runs[run] ? IS_BREAK | IS_RULE : 0;
        }
        has_content = text < page->run_end[i] || medium < page->end[i];
        is_filled = is_shown && has_content;
        is_in_code = kind & IN_CODE && (is_filled || around & IN_FILLED_CODE);
        if (is_in_code && is_shown && kind & IS_LINE_OF_CODE) { /* maybe an empty one */
            ink = next_marked(page->is_nonblank, page->r, ink, page->run_begin[i]);
            is_filled |= ink >= page->run_end[i];
        }
        stays = is_filled || (is_in_filled && kind & (separators | IS_CELL));
        if (stays && kind & IS_RULE) {
            if (rule >= 0 && text == after_rule) { /* no text since the last one */
                notes[rule] &= ~STAYS;
            }
            rule = i;
            after_rule = text;
        }
        stays = (stays && (has_content || !(kind & IN_LAYOUT))) || (is_in_filled && kind & IS_MEDIA_PART) || media[i];
        separators |= media[i] ? IS_BREAK : 0;
        notes[i] = (uint8_t)(stays * STAYS | is_seen * IS_SEEN | is_filled * IS_FILLED | is_in_code * IN_FILLED_CODE);
        border[i] = (kind & (IS_BLOCK | IS_VOID)) == IS_BLOCK || !i ? i : border[page->parent[i]];
    }
    if (rule >= 0 && after_rule == page->r) {
        notes[rule] &= ~STAYS;
    }
}

/* kept_items(page, kinds: uint32[n], media: bool[n], elements: bool[n], runs: bool[r]): marks the elements that stay with the
              runs and media that do, and white space between blocks that is in code, or beside a picture and in the same
              block-level element */
PyObject *core_kept_items(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(array_release) Array kinds = {0}, media = {0}, elements = {0}, runs = {0};
    SCOPED(free_memory) uint8_t *in_block = NULL;
    SCOPED(free_memory) int32_t *border = NULL;
    uint8_t *notes, *are_kept;
    int32_t i, run;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&", in_page, &page, in_4, &kinds, in_1, &media, out_1, &elements, out_1, &runs)
        || !check_arrays(kinds.length == page.n && media.length == page.n && elements.length == page.n
                         && runs.length == page.r)) {
        return NULL;
    }
    if ((in_block = calloc((size_t)page.r + 1, 1)) == NULL || (border = malloc(sizeof *border * (size_t)page.n + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    notes = ITEMS(elements, uint8_t);
    are_kept = ITEMS(runs, uint8_t);
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < (int32_t)page.m; i++) {
        memset(in_block + page.block_run_begin[i], 1, (size_t)(page.block_run_end[i] - page.block_run_begin[i]));
    }
    note_elements(&page, ITEMS(kinds, uint32_t), ITEMS(media, uint8_t), are_kept, in_block, notes, border);
    for (run = 0; run < (int32_t)page.r; run++) {
        are_kept[run] |= !in_block[run] && notes[page.run_node[run]] & IN_FILLED_CODE;
    }
    for (i = -1; (i = next_marked(ITEMS(media, uint8_t), page.n, -1, i + 1)) < page.n;) {
        int is_picture = (ITEMS(kinds, uint32_t)[i] & IS_PICTURE) != 0;
        for (run = page.run_begin[i] - 1; is_picture && run <= page.run_begin[i]; run++) {
            if (run >= 0 && run < (int32_t)page.r && !in_block[run]) {
                int32_t node = page.run_node[run];
                are_kept[run] |= notes[node] & STAYS && border[node] == border[i];
            }
        }
    }
    for (i = 0; i < (int32_t)page.n; i++) {
        notes[i] &= STAYS;
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
