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
    const Kept *kept;
    const Span *run_texts, *element_texts; /* of runs and elements that are not written as they stand; NULL for none */
    const int32_t *source, *ends;
    int32_t *outer, *paragraphs_in; /* of each item: that of a list around it; paragraphs in it */
    int32_t count, outside_cells;   /* of the items; paragraphs outside cells */
    Span text;                      /* of the page, from a character on */
    int64_t character;
    char *start, *to;
    Paragraph *paragraphs;
    size_t used, capacity; /* of the paragraphs, in bytes */
    int is_open, is_spaced, has_parentheses;
    Py_ssize_t words; /* where the text of the open paragraph begins, after its label */
    Paragraph now;
    Span labels[MAX_NESTING + 2]; /* of list items that have no text yet */
    int label_count, depth;
    struct {
        int32_t end, block;
        const char *sign; /* to write there; NULL for a block-level element */
        Place place;
    } open[MAX_NESTING + 2];
} Writer;

static uint32_t role_of(const Writer *w, int32_t source)
{
    return kind_of(w->kept, source) & ROLE;
}

static void write_span(Writer *w, Span text)
{
    memcpy(w->to, text.begin, (size_t)(text.end - text.begin));
    w->to += text.end - text.begin;
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
    w->now.begin = w->to - w->start;
    for (k = 0; k < w->label_count; k++) {
        write_span(w, w->labels[k]);
        *w->to++ = ' ';
    }
    w->words = w->to - w->start;
}

/* Add the paragraph that ends here; 0 without memory. */
static int add_paragraph(Writer *w)
{
    if (reserve(&w->paragraphs, &w->capacity, w->used + sizeof *w->paragraphs) < 0) {
        return 0;
    }
    w->now.end = w->to - w->start;
    memcpy((char *)w->paragraphs + w->used, &w->now, sizeof w->now);
    w->used += sizeof w->now;
    w->now.line_breaks = 0;
    if (w->now.place.cell >= 0) {
        w->paragraphs_in[w->now.place.cell]++;
    }
    else {
        w->outside_cells++;
    }
    if (w->now.block >= 0 && w->source[w->now.block] >= 0 && role_of(w, w->source[w->now.block]) == PARAGRAPH) {
        int32_t item = w->now.place.item;
        for (; item >= 0; item = w->outer[item]) {
            w->paragraphs_in[item]++;
        }
    }
    return 1;
}

/* End the open paragraph, unless it is a checkbox, which waits for the text of its item; 0 without memory. */
static int end_paragraph(Writer *w)
{
    const char *text = w->start + w->words;
    if (!w->is_open || (w->to - text == 3 && (memcmp(text, "[ ]", 3) == 0 || memcmp(text, "[x]", 3) == 0))) {
        return 1;
    }
    w->is_open = 0;
    w->label_count = 0;
    return add_paragraph(w);
}

/* Add a sign that the page does not have. */
static void add_sign(Writer *w, int32_t item, const char *sign)
{
    open_paragraph(w, item);
    if (w->is_spaced) {
        *w->to++ = ' ';
        w->is_spaced = 0;
    }
    memcpy(w->to, sign, strlen(sign));
    w->to += strlen(sign);
}

static void add_words(Writer *w, int32_t item, Span *text, int64_t characters)
{
    if (!w->is_open) {
        characters = skip_white_space(text, characters);
        if (characters == 0 || text->begin == text->end) { /* as most texts are, between blocks */
            return;
        }
        open_paragraph(w, item);
    }
    w->to = copy_words(w->to, text, characters, &w->is_spaced);
}

/* Add a text; a NUL in it is a line break. 0 without memory. */
static int add_lines(Writer *w, int32_t item, Span text)
{
    for (;;) {
        const unsigned char *end = memchr(text.begin, '\0', (size_t)(text.end - text.begin));
        Span line = {text.begin, end ? end : text.end};
        add_words(w, item, &line, INT64_MAX);
        if (end == NULL) {
            return 1;
        }
        if (!end_paragraph(w)) {
            return 0;
        }
        w->now.line_breaks++;
        text.begin = end + 1;
    }
}

/* Add what is written instead of an element or run. */
static int add_written(Writer *w, int32_t item, Span text)
{
    if (w->is_open && !w->is_spaced && text.begin < text.end && *text.begin == '$' && w->to[-1] == '$') {
        w->is_spaced = 1; /* between formulas that touch */
    }
    return add_lines(w, item, text);
}

static int32_t run_of(const Writer *w, int32_t source)
{
    return w->kept->runs[source - w->kept->k];
}

/* What is written instead of an element or run; without a beginning if it is written as it stands. */
static Span written_instead(const Writer *w, int32_t source)
{
    const Span none = {NULL, NULL};
    if (source >= w->kept->k) {
        return w->run_texts != NULL ? w->run_texts[run_of(w, source)] : none;
    }
    return w->element_texts != NULL ? w->element_texts[w->kept->elements[source]] : none;
}

/* The text of a run, or what is written instead of an element. */
static Span text_of(Writer *w, int32_t source)
{
    Span text = written_instead(w, source);
    if (text.begin == NULL && source >= w->kept->k) {
        const int64_t *offset = w->kept->page.run_offset + run_of(w, source);
        skip_characters(&w->text, offset[0] - w->character);
        text.begin = w->text.begin;
        skip_characters(&w->text, offset[1] - offset[0]);
        text.end = w->text.begin;
        w->character = offset[1];
    }
    return text;
}

static int add_run(Writer *w, int32_t item, int32_t source)
{
    Span text = text_of(w, source);
    return written_instead(w, source).begin != NULL ? add_written(w, item, text) : add_lines(w, item, text);
}

/* Close the elements that end before an item; 0 without memory. */
static int close_before(Writer *w, int32_t item)
{
    for (; w->depth && w->open[w->depth - 1].end <= item; w->depth--) {
        int last = w->depth - 1;
        if (w->open[last].sign != NULL) {
            add_sign(w, w->now.first, w->open[last].sign);
            continue;
        }
        if (!end_paragraph(w)) {
            return 0;
        }
        if (w->now.place.item != w->open[last].place.item) {
            w->label_count = 0;
        }
        w->now.block = w->open[last].block;
        w->now.place = w->open[last].place;
    }
    return 1;
}

static void open_element(Writer *w, int32_t item, const char *sign)
{
    w->open[w->depth].end = w->ends[item];
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

/* Begin a line of code, unless one has just begun. */
static void begin_line(Writer *w, const char *code)
{
    if (w->to > code && w->to[-1] != '\n') {
        *w->to++ = '\n';
    }
}

/* Close the lines of code that end before an item; returns whether there were any. */
static int close_lines(Writer *w, const char *code, int *depth, const int32_t *ends, char *const *begins, int32_t item)
{
    int is_any = 0;
    for (; *depth && ends[*depth - 1] <= item; --*depth) {
        char *begin = begins[*depth - 1];
        is_any = 1;
        if (w->to == begin + 1 && *begin == ' ') { /* holds an empty line open */
            w->to--;
        }
        if (w->to == begin) {
            *w->to++ = '\n';
        }
        begin_line(w, code);
    }
    return is_any;
}

/* Write the lines of a block of code: an element for each line is one, with or without a line feed after it. */
static void write_code(Writer *w, int32_t block)
{
    char *code = w->to, *begins[MAX_NESTING + 2];
    int32_t item, ends[MAX_NESTING + 2], k = w->kept->k;
    int depth = 0, is_after_border = 1; /* of the code or of a line, where a line feed in the text says nothing */
    for (item = block + 1; item < w->ends[block]; item++) {
        int32_t source = w->source[item];
        uint32_t role = source >= 0 && source < k ? role_of(w, source) : BREAK;
        is_after_border |= close_lines(w, code, &depth, ends, begins, item);
        if (source >= k || role == WRITTEN) {
            Span text = text_of(w, source);
            text.begin += is_after_border && text.begin < text.end && *text.begin == '\n';
            write_span(w, text);
        }
        else if (role == BREAK) {
            *w->to++ = '\n';
        }
        else if (role == CODE_LINE || role >= BLOCK) {
            begin_line(w, code);
            ends[depth] = w->ends[item];
            begins[depth++] = w->to;
        }
        is_after_border = 0;
    }
    close_lines(w, code, &depth, ends, begins, w->ends[block]);
    w->to -= w->to > code && w->to[-1] == '\n';
}

/* Add a paragraph of code; 0 without memory. */
static int add_code(Writer *w, int32_t item)
{
    Paragraph around = w->now;
    char *begin = w->to;
    if (w->is_open) { /* a checkbox without text */
        w->is_open = 0;
        begin = w->to = w->start + w->now.begin;
    }
    write_code(w, item);
    for (; begin < w->to && *begin == '\n'; begin++) {
    }
    for (; begin < w->to && property_of(w->to[-1] & 0x7F) & WHITE_SPACE && !(w->to[-1] & 0x80); w->to--) {
    }
    if (begin == w->to) {
        return 1;
    }
    w->now.first = w->now.block = item;
    w->now.place.table = -1;
    w->now.begin = begin - w->start;
    if (!add_paragraph(w)) {
        return 0;
    }
    w->now.block = around.block;
    w->now.place = around.place;
    return 1;
}

/* Begin an element; returns the item to go on with, or -1 without memory. */
static int32_t begin_element(Writer *w, int32_t item, int32_t number)
{
    Span text = written_instead(w, number);
    uint32_t role = role_of(w, number);
    int32_t inner;
    switch (role) {
    case INLINE:
    case CODE_LINE:
    case PARENTHESIS:
        return item + 1;
    case WRITTEN:
        return text.begin == NULL || add_written(w, item, text) ? item + 1 : -1;
    case QUOTATION:
        open_quotation(w, item, "\xE2\x80\x9C", "\xE2\x80\x9D");
        return item + 1;
    case RUBY:
        for (inner = item + 1; inner < w->ends[item]; inner++) {
            int32_t source = w->source[inner];
            if (source >= 0 && source < w->kept->k && role_of(w, source) == PARENTHESIS) {
                break;
            }
        }
        w->has_parentheses = inner < w->ends[item];
        return item + 1;
    case READING:
        if (!w->has_parentheses) {
            open_quotation(w, item, "(", ")");
        }
        return item + 1;
    default:
        break;
    }
    if (!end_paragraph(w)) {
        return -1;
    }
    if (role == BREAK) {
        w->now.line_breaks++;
        return item + 1;
    }
    if (role == CODE && !w->now.place.is_data) {
        return add_code(w, item) ? w->ends[item] : -1;
    }
    open_element(w, item, NULL);
    if (text.begin != NULL && role == ITEM && w->label_count < MAX_NESTING) {
        w->labels[w->label_count++] = text;
    }
    enter(w, item, role);
    w->now.block = item;
    return item + 1;
}

/* Write the paragraphs one after the other; 0 without memory. */
static int write_paragraphs(Writer *w)
{
    int32_t item = 0, k = w->kept->k;
    w->now = (Paragraph){.block = -1, .place = {-1, -1, -1, -1, -1, 0}};
    while (item >= 0 && item < w->count) {
        int32_t source = w->source[item];
        if (!close_before(w, item)) {
            return 0;
        }
        if (source >= k) {
            item = add_run(w, item, source) ? item + 1 : -1;
        }
        else if (source >= 0) {
            item = begin_element(w, item, source);
        }
        else {
            item = end_paragraph(w) ? item + 1 : -1;
            w->now.line_breaks += source == CUT ? 2 : 1;
        }
    }
    return item >= 0 && close_before(w, item) && end_paragraph(w);
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

static int32_t element_of(const Writer *w, int32_t item)
{
    return item < 0 ? -1 : w->kept->elements[w->source[item]];
}

/* The block of the page where a paragraph begins. */
static int32_t block_of(const Writer *w, const Paragraph *paragraph)
{
    const PageArrays *page = &w->kept->page;
    int32_t source = w->source[paragraph->first], k = w->kept->k;
    int32_t run = source >= k ? run_of(w, source) : page->run_begin[element_of(w, paragraph->first)];
    int32_t begin = 0, end = (int32_t)page->m - 1;
    while (begin < end) {
        int32_t middle = begin + (end - begin) / 2;
        if (page->block_run_end[middle] <= run) {
            begin = middle + 1;
        }
        else {
            end = middle;
        }
    }
    return begin;
}

/* A tuple of two objects, which are given away; NULL with an exception if one of them is. */
static PyObject *pair(PyObject *one, PyObject *other)
{
    PyObject *both = one != NULL && other != NULL ? PyTuple_Pack(2, one, other) : NULL;
    Py_XDECREF(one);
    Py_XDECREF(other);
    return both;
}

enum { FIELDS = 5 }; /* of a paragraph */

/* The text, and of each paragraph its block, data table and cell (-1 for none), begin and end; NULL with an exception. */
static PyObject *joined(const Writer *w)
{
    Py_ssize_t count = (Py_ssize_t)(w->used / sizeof *w->paragraphs), length = 0, k;
    PyObject *text, *fields;
    for (k = 0; k < count; k++) {
        length += w->paragraphs[k].end - w->paragraphs[k].begin;
        length += k ? (Py_ssize_t)strlen(separator(w, &w->paragraphs[k - 1], &w->paragraphs[k])) : 0;
    }
    text = PyBytes_FromStringAndSize(NULL, length);
    fields = PyBytes_FromStringAndSize(NULL, count * FIELDS * (Py_ssize_t)sizeof(int32_t));
    if (text != NULL && fields != NULL) {
        char *begin = PyBytes_AsString(text), *to = begin;
        int32_t *field = (int32_t *)PyBytes_AsString(fields);
        for (k = 0; k < count; k++, field += FIELDS) {
            const Paragraph *paragraph = &w->paragraphs[k];
            size_t size = (size_t)(paragraph->end - paragraph->begin);
            if (k) {
                const char *between = separator(w, paragraph - 1, paragraph);
                memcpy(to, between, strlen(between));
                to += strlen(between);
            }
            memcpy(to, w->start + paragraph->begin, size);
            field[0] = block_of(w, paragraph);
            field[1] = paragraph->place.is_data ? element_of(w, paragraph->place.table) : -1;
            field[2] = element_of(w, paragraph->place.cell);
            field[3] = (int32_t)(to - begin);
            field[4] = (int32_t)(to - begin + (Py_ssize_t)size);
            to += size;
        }
    }
    return pair(text, fields);
}

/* The lines of all blocks of code that are in no other one, and of each its element, and where it begins and ends. */
static PyObject *codes(Writer *w)
{
    int32_t item = 0, k = w->kept->k, fields[3];
    SCOPED(free_memory) char *found = NULL;
    size_t capacity = 0, used = 0;
    while (item < w->count) {
        int32_t source = w->source[item];
        if (source < 0 || source >= k || role_of(w, source) != CODE) {
            item++;
            continue;
        }
        fields[0] = element_of(w, item);
        fields[1] = (int32_t)(w->to - w->start);
        write_code(w, item);
        fields[2] = (int32_t)(w->to - w->start);
        if (reserve(&found, &capacity, used + sizeof fields) < 0) {
            return PyErr_NoMemory();
        }
        memcpy(found + used, fields, sizeof fields);
        used += sizeof fields;
        item = w->ends[item];
    }
    return pair(PyBytes_FromStringAndSize(w->start, w->to - w->start), PyBytes_FromStringAndSize(found, (Py_ssize_t)used));
}

/* Write the text of what core.plain_text takes as arguments, or its code alone. */
static PyObject *write_text(PyObject *arguments, int is_code)
{
    SCOPED(kept_release) Kept kept = {0};
    SCOPED(array_release) Array elements = {0}, runs = {0};
    SCOPED(free_memory) Span *run_texts = NULL;
    SCOPED(free_memory) Span *element_texts = NULL;
    SCOPED(free_memory) int32_t *items = NULL;
    SCOPED(free_memory) char *written = NULL;
    SCOPED(free_memory) Paragraph *paragraphs = NULL;
    PyObject *texts_of_runs, *texts_of_elements;
    Writer w = {.kept = &kept};
    size_t room, size = 0;
    int is_written;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&OO", in_page, &kept.page, in_4, &kept.kinds, in_1, &elements, in_1, &runs,
                          &texts_of_runs, &texts_of_elements)
        || !keep(&kept, &elements, &runs, is_code ? 0 : ROLE | IS_LINE)
        || !borrow_texts(texts_of_runs, kept.page.r, &run_texts, &size)
        || !borrow_texts(texts_of_elements, kept.page.n, &element_texts, &size)) {
        return NULL;
    }
    room = (size_t)kept.k + 2 * (size_t)kept.s + 1;
    size += (size_t)(kept.page.text.end - kept.page.text.begin) + 8 * room; /* the signs of a quotation, and spaces before them */
    if (!check_arrays(size <= INT32_MAX)) {
        return NULL;
    }
    if ((items = calloc(4 * room, sizeof *items)) == NULL || (written = malloc(size)) == NULL) {
        return PyErr_NoMemory();
    }
    w.run_texts = run_texts;
    w.element_texts = element_texts;
    w.source = items;
    w.ends = items + room;
    w.outer = items + 2 * room;
    w.paragraphs_in = items + 3 * room;
    w.text = kept.page.text;
    w.start = w.to = written;
    Py_BEGIN_ALLOW_THREADS
    w.count = join_items(&kept, items, items + room);
    is_written = is_code || write_paragraphs(&w);
    Py_END_ALLOW_THREADS
    paragraphs = w.paragraphs;
    return is_code ? codes(&w) : is_written ? joined(&w) : PyErr_NoMemory();
}

/* plain_text(page, kinds: uint32[n], elements: bool[n], runs: bool[r], texts by run, texts by element)
              -> (text as UTF-8, int32[p, 5])

   Of each paragraph: the block of the page where it begins, the data table and the cell that it is in, or -1, and where it
   begins and ends in the text. Runs with a text are written so; an element has one if that is written instead of its contents,
   or is its label. */
PyObject *core_plain_text(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    return write_text(arguments, 0);
}

/* code_lines(as of plain_text) -> (the lines of all blocks of code as UTF-8, int32[c, 3])

   Of each block: the element, and where its lines begin and end in the text. */
PyObject *core_code_lines(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    return write_text(arguments, 1);
}
