/* Plain text of the kept elements and runs of a page, for tamis.output.text, which says where its lines end. */
#include "markup.h"

/* The list and the table around a paragraph, as items of the markup; -1 for none. */
typedef struct {
    int32_t list; /* the outermost */
    int32_t item; /* of a list, the innermost */
    int32_t table, row, cell; /* of the outermost data table, else of the innermost other one, which is what holds its rows */
    int is_data;
} Place;

typedef struct {
    int32_t first, block; /* items: where it begins, and the innermost block-level element around it */
    Py_ssize_t begin, end; /* of its text */
    int line_breaks; /* between it and the paragraph before it */
    Place place;
} Paragraph;

typedef struct {
    Text text;
    int32_t *outer, *paragraphs_in; /* of each item: that of a list around it; paragraphs in it */
    int32_t outside_cells;          /* paragraphs */
    Paragraph *paragraphs;
    size_t count, capacity; /* of the paragraphs; the latter in bytes */
    int failed;             /* no memory */
    int is_open, is_spaced, has_parentheses;
    char *words; /* where the text of the open paragraph begins, after its label */
    Paragraph now;
    Span labels[MAX_NESTING + 2]; /* of list items that have no text yet */
    int label_count, depth;
    struct {
        int32_t end, block;
        const char *sign; /* to write there; NULL for a block-level element */
        Place place;
    } open[MAX_NESTING + 2];
} Writer;

static void release(Writer *w)
{
    free(w->outer);
    free(w->paragraphs);
    text_release(&w->text);
}

static void open_paragraph(Writer *w, int32_t item)
{
    int k;
    if (w->is_open) {
        return;
    }
    w->is_open = 1;
    w->is_spaced = 0;
    w->now.first = item;
    w->now.begin = w->text.to - w->text.begin;
    for (k = 0; k < w->label_count; k++) {
        put_span(&w->text, w->labels[k]);
        *w->text.to++ = ' ';
    }
    w->words = w->text.to;
}

/* Add the paragraph that ends here. */
static void add_paragraph(Writer *w)
{
    int32_t item = w->now.place.item;
    if (reserve(&w->paragraphs, &w->capacity, sizeof *w->paragraphs * (w->count + 1)) < 0) {
        w->failed = 1;
        return;
    }
    w->now.end = w->text.to - w->text.begin;
    w->paragraphs[w->count++] = w->now;
    w->now.line_breaks = 0;
    ++*(w->now.place.cell >= 0 ? &w->paragraphs_in[w->now.place.cell] : &w->outside_cells);
    for (; w->now.block >= 0 && role_at(&w->text, w->now.block) == PARAGRAPH && item >= 0; item = w->outer[item]) {
        w->paragraphs_in[item]++;
    }
}

/* End the open paragraph, unless it is a checkbox, which waits for the text of its item. */
static void end_paragraph(Writer *w)
{
    if (!w->is_open || (w->text.to - w->words == 3 && (!memcmp(w->words, "[ ]", 3) || !memcmp(w->words, "[x]", 3)))) {
        return;
    }
    w->is_open = 0;
    w->label_count = 0;
    add_paragraph(w);
}

/* Add a sign that the page does not have. */
static void add_sign(Writer *w, int32_t item, const char *sign)
{
    open_paragraph(w, item);
    if (w->is_spaced) {
        *w->text.to++ = ' ';
        w->is_spaced = 0;
    }
    put_span(&w->text, span_of(sign));
}

static void add_words(Writer *w, int32_t item, Span words)
{
    int64_t characters = INT64_MAX;
    if (!w->is_open) {
        characters = skip_white_space(&words, characters);
        if (words.begin == words.end) { /* as most texts are, between blocks */
            return;
        }
        open_paragraph(w, item);
    }
    w->text.to = copy_words(w->text.to, &words, characters, &w->is_spaced);
}

/* Add a run, or what is written instead of it or of an element; a NUL in it is a line break. */
static void add_text(Writer *w, int32_t item)
{
    Span text = text_at(&w->text, item);
    const unsigned char *end;
    if (w->is_open && !w->is_spaced && text.begin < text.end && *text.begin == '$' && w->text.to[-1] == '$'
        && written_instead(&w->text, item).begin != NULL) {
        w->is_spaced = 1; /* between formulas that touch */
    }
    while (text.begin < text.end && (end = memchr(text.begin, '\0', (size_t)(text.end - text.begin))) != NULL) {
        add_words(w, item, (Span){text.begin, end});
        end_paragraph(w);
        w->now.line_breaks++;
        text.begin = end + 1;
    }
    add_words(w, item, text);
}

/* Close the elements that end before an item. */
static void close_before(Writer *w, int32_t item)
{
    for (; w->depth && w->open[w->depth - 1].end <= item; w->depth--) {
        int last = w->depth - 1;
        if (w->open[last].sign != NULL) {
            add_sign(w, w->now.first, w->open[last].sign);
            continue;
        }
        end_paragraph(w);
        if (w->now.place.item != w->open[last].place.item) {
            w->label_count = 0;
        }
        w->now.block = w->open[last].block;
        w->now.place = w->open[last].place;
    }
}

static void open_element(Writer *w, int32_t item, const char *sign)
{
    w->open[w->depth].end = w->text.ends[item];
    w->open[w->depth].sign = sign;
    w->open[w->depth].block = w->now.block;
    w->open[w->depth++].place = w->now.place;
}

static void open_quotation(Writer *w, int32_t item, const char *before, const char *after)
{
    add_sign(w, item, before);
    open_element(w, item, after);
}

/* Change what is around the paragraphs in a list, an item of one, or a part of a table. */
static void enter(Writer *w, int32_t item, uint32_t role)
{
    Place *place = &w->now.place;
    int is_in_cell = place->is_data && place->cell >= 0;
    if (role == LIST) {
        place->list = place->list >= 0 ? place->list : item;
    }
    else if (role == ITEM) {
        w->outer[item] = place->item;
        place->item = item;
    }
    else if (role == TABLE && !place->is_data) {
        *place = (Place){place->list, place->item, item, -1, -1, 1};
    }
    else if (role == ROW && !is_in_cell) {
        if (place->is_data) {
            place->row = item;
        }
        else {
            *place = (Place){place->list, place->item, w->now.block, item, -1, 0};
        }
    }
    else if (role == CELL && !is_in_cell && place->row >= 0) {
        place->cell = item;
    }
}

static void open_block(Writer *w, int32_t item, uint32_t role)
{
    open_element(w, item, NULL);
    if (role == ITEM && w->label_count < MAX_NESTING && written_instead(&w->text, item).begin != NULL) {
        w->labels[w->label_count++] = written_instead(&w->text, item);
    }
    enter(w, item, role);
    w->now.block = item;
}

/* Add a paragraph of code. */
static void add_code(Writer *w, int32_t item)
{
    Text *text = &w->text;
    Paragraph around = w->now;
    char *begin = w->is_open ? text->begin + w->now.begin : text->to; /* written over a checkbox without text */
    w->is_open = 0;
    text->to = begin;
    write_code(text, item);
    for (; begin < text->to && *begin == '\n'; begin++) {
    }
    for (; begin < text->to && property_of(text->to[-1] & 0x7F) & WHITE_SPACE && !(text->to[-1] & 0x80); text->to--) {
    }
    if (begin == text->to) {
        return;
    }
    w->now.first = w->now.block = item;
    w->now.place.table = -1;
    w->now.begin = begin - text->begin;
    add_paragraph(w);
    w->now.block = around.block;
    w->now.place = around.place;
}

/* Write a run, or begin an element; returns the item to go on with. */
static int32_t write_item(Writer *w, int32_t item)
{
    const Text *text = &w->text;
    uint32_t role = role_at(text, item);
    int32_t inner = item + 1;
    switch (role) {
    case INLINE:
    case CODE_LINE:
    case PARENTHESIS:
        break;
    case WRITTEN:
        add_text(w, item);
        break;
    case QUOTATION:
        open_quotation(w, item, "\xE2\x80\x9C", "\xE2\x80\x9D");
        break;
    case RUBY:
        for (; inner < text->ends[item] && role_at(text, inner) != PARENTHESIS; inner++) {
        }
        w->has_parentheses = inner < text->ends[item];
        break;
    case READING:
        if (!w->has_parentheses) {
            open_quotation(w, item, "(", ")");
        }
        break;
    case BREAK:
        end_paragraph(w);
        w->now.line_breaks += text->source[item] == CUT ? 2 : 1;
        break;
    default:
        end_paragraph(w);
        if (role == CODE && !w->now.place.is_data) {
            add_code(w, item);
            return text->ends[item];
        }
        open_block(w, item, role);
    }
    return item + 1;
}

/* Write the paragraphs one after the other. */
static void write_paragraphs(Writer *w)
{
    int32_t item = 0;
    w->now = (Paragraph){.block = -1, .place = {-1, -1, -1, -1, -1, 0}};
    while (item < w->text.count && !w->failed) {
        close_before(w, item);
        item = write_item(w, item);
    }
    close_before(w, item);
    end_paragraph(w);
}

/* White space between two paragraphs. */
static const char *separator(const Writer *w, const Paragraph *one, const Paragraph *other)
{
    const Place *before = &one->place, *after = &other->place;
    if (one->block == other->block && other->line_breaks == 1) {
        return "\n";
    }
    if (before->is_data || after->is_data) {
        return "\n\n";
    }
    if (before->table == after->table && after->table >= 0) {
        int32_t first = before->cell < 0 ? w->outside_cells : w->paragraphs_in[before->cell];
        int32_t second = after->cell < 0 ? w->outside_cells : w->paragraphs_in[after->cell];
        if (first == 1 && second == 1) {
            return before->row == after->row ? "\t" : "\n";
        }
    }
    if ((before->item >= 0 && w->paragraphs_in[before->item] > 1)
        || (after->item >= 0 && w->paragraphs_in[after->item] > 1)) {
        return "\n\n";
    }
    return before->list == after->list && after->list >= 0 ? "\n" : "\n\n";
}

/* The block of the page where a paragraph begins. */
static int32_t block_of(const Text *text, const Paragraph *paragraph)
{
    const Kept *kept = &text->kept;
    int32_t source = text->source[paragraph->first];
    int32_t run = source >= kept->k ? kept->runs[source - kept->k] : kept->page.run_begin[kept->elements[source]];
    int32_t begin = 0, end = (int32_t)kept->page.m - 1;
    while (begin < end) {
        int32_t middle = begin + (end - begin) / 2;
        if (kept->page.block_run_end[middle] <= run) {
            begin = middle + 1;
        }
        else {
            end = middle;
        }
    }
    return begin;
}

enum { FIELDS = 5, LONGEST_SEPARATOR = 2 };

/* The text, and the fields of each paragraph; NULL with an exception. */
static PyObject *joined(const Writer *w)
{
    const Text *text = &w->text;
    SCOPED(free_memory) int32_t *fields = malloc(sizeof *fields * FIELDS * w->count + 1);
    SCOPED(free_memory) char *begin = malloc((size_t)(text->to - text->begin) + LONGEST_SEPARATOR * w->count + 1);
    char *to = begin;
    size_t k;
    if (fields == NULL || begin == NULL) {
        return PyErr_NoMemory();
    }
    for (k = 0; k < w->count; k++) {
        const Paragraph *paragraph = &w->paragraphs[k];
        const char *between = k ? separator(w, paragraph - 1, paragraph) : "";
        int32_t *field = fields + FIELDS * k;
        memcpy(to, between, strlen(between));
        to += strlen(between);
        field[0] = block_of(text, paragraph);
        field[1] = paragraph->place.is_data ? element_at(text, paragraph->place.table) : -1;
        field[2] = element_at(text, paragraph->place.cell);
        field[3] = (int32_t)(to - begin);
        memcpy(to, text->begin + paragraph->begin, (size_t)(paragraph->end - paragraph->begin));
        to += paragraph->end - paragraph->begin;
        field[4] = (int32_t)(to - begin);
    }
    return Py_BuildValue("NN", PyBytes_FromStringAndSize(begin, to - begin),
                         PyBytes_FromStringAndSize((char *)fields, (Py_ssize_t)(sizeof *fields * FIELDS * w->count)));
}

/* plain_text(page, kinds: uint32[n], elements: bool[n], runs: bool[r], texts by run, texts by element)
              -> (text as UTF-8, int32[p, FIELDS])

   Of each paragraph: the block of the page where it begins, the data table and the cell that it is in, or -1, and where it
   begins and ends in the text. Runs with a text are written so; an element has one if that is written instead of its contents,
   or is its label. */
PyObject *core_plain_text(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(release) Writer w = {0};
    if (!text_read(&w.text, arguments, ROLE | IS_LINE)) {
        return NULL;
    }
    if ((w.outer = calloc(2 * (size_t)w.text.count + 1, sizeof *w.outer)) == NULL) {
        return PyErr_NoMemory();
    }
    w.paragraphs_in = w.outer + w.text.count;
    Py_BEGIN_ALLOW_THREADS
    write_paragraphs(&w);
    Py_END_ALLOW_THREADS
    return w.failed ? PyErr_NoMemory() : joined(&w);
}
