/* Texts of items of markup, and the lines of those that are blocks of code, for tamis.output.markup and tamis.output.text. */
#include "markup.h"

void text_release(Text *text)
{
    free(text->run_texts);
    free(text->element_texts);
    free(text->source);
    free(text->begin);
    kept_release(&text->kept);
}

int text_read(Text *text, PyObject *arguments, uint32_t kinds)
{
    Kept *kept = &text->kept;
    SCOPED(array_release) Array elements = {0}, runs = {0};
    PyObject *texts_of_runs, *texts_of_elements;
    size_t room, size = 0;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&OO", in_page, &kept->page, in_4, &kept->kinds, in_1, &elements, in_1, &runs,
                          &texts_of_runs, &texts_of_elements)
        || !keep(kept, &elements, &runs, kinds) || !borrow_texts(texts_of_runs, kept->page.r, &text->run_texts, &size)
        || !borrow_texts(texts_of_elements, kept->page.n, &text->element_texts, &size)) {
        return 0;
    }
    room = (size_t)kept->k + 2 * (size_t)kept->s + 1;
    /* with room for the signs of a quotation, and spaces before them */
    size += (size_t)(kept->page.text.end - kept->page.text.begin) + 8 * room;
    if (!check_arrays(size <= INT32_MAX)) {
        return 0;
    }
    text->source = malloc(2 * room * sizeof *text->source);
    text->begin = text->to = malloc(size);
    if (text->source == NULL || text->begin == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    text->ends = text->source + room;
    text->unread = kept->page.text;
    Py_BEGIN_ALLOW_THREADS
    text->count = join_items(kept, text->source, text->ends);
    Py_END_ALLOW_THREADS
    return 1;
}

uint32_t role_at(const Text *text, int32_t item)
{
    int32_t source = text->source[item];
    return source < 0 ? BREAK : source < text->kept.k ? kind_of(&text->kept, source) & ROLE : WRITTEN;
}

Span written_instead(const Text *text, int32_t item)
{
    const Kept *kept = &text->kept;
    int32_t source = text->source[item];
    int is_run = source >= kept->k;
    const Span *texts = is_run ? text->run_texts : text->element_texts;
    return texts == NULL ? (Span){NULL, NULL} : texts[is_run ? kept->runs[source - kept->k] : kept->elements[source]];
}

Span text_at(Text *text, int32_t item)
{
    Span found = written_instead(text, item);
    if (found.begin == NULL && text->source[item] >= text->kept.k) {
        const int64_t *offset = text->kept.page.run_offset + text->kept.runs[text->source[item] - text->kept.k];
        skip_characters(&text->unread, offset[0] - text->character);
        found.begin = text->unread.begin;
        skip_characters(&text->unread, offset[1] - offset[0]);
        found.end = text->unread.begin;
        text->character = offset[1];
    }
    return found;
}

/* Begin a line of code, unless one has just begun. */
static void begin_line(Text *text, const char *code)
{
    if (text->to > code && text->to[-1] != '\n') {
        *text->to++ = '\n';
    }
}

/* Close the lines of code that end before an item; returns whether there were any. */
static int close_lines(Text *text, const char *code, int *depth, const int32_t *ends, char *const *begins, int32_t item)
{
    int is_any = 0;
    for (; *depth && ends[*depth - 1] <= item; --*depth) {
        char *begin = begins[*depth - 1];
        is_any = 1;
        if (text->to == begin + 1 && *begin == ' ') { /* holds an empty line open */
            text->to--;
        }
        if (text->to == begin) {
            *text->to++ = '\n';
        }
        begin_line(text, code);
    }
    return is_any;
}

void write_code(Text *text, int32_t block)
{
    char *code = text->to, *begins[MAX_NESTING + 2];
    int32_t item, ends[MAX_NESTING + 2];
    int depth = 0, is_after_border = 1; /* of the code or of a line, where a line feed in the text says nothing */
    for (item = block + 1; item < text->ends[block]; item++) {
        uint32_t role = role_at(text, item);
        is_after_border |= close_lines(text, code, &depth, ends, begins, item);
        if (role == WRITTEN) {
            Span written = text_at(text, item);
            written.begin += is_after_border && written.begin < written.end && *written.begin == '\n';
            put_span(text, written);
        }
        else if (role == BREAK) {
            *text->to++ = '\n';
        }
        else if (role == CODE_LINE || role >= BLOCK) {
            begin_line(text, code);
            ends[depth] = text->ends[item];
            begins[depth++] = text->to;
        }
        is_after_border = 0;
    }
    close_lines(text, code, &depth, ends, begins, text->ends[block]);
    text->to -= text->to > code && text->to[-1] == '\n';
}

/* code_lines(as of plain_text) -> (the lines of all blocks of code that are in no other one as UTF-8, int32[c, 3])

   Of each block: the element, and where its lines begin and end in the text. */
PyObject *core_code_lines(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(text_release) Text text = {0};
    SCOPED(free_memory) int32_t *found = NULL;
    size_t capacity = 0, used = 0;
    int32_t item = 0;
    if (!text_read(&text, arguments, 0)) {
        return NULL;
    }
    while (item < text.count) {
        if (role_at(&text, item) != CODE) {
            item++;
            continue;
        }
        if (reserve(&found, &capacity, sizeof *found * (used + 3)) < 0) {
            return PyErr_NoMemory();
        }
        found[used++] = element_at(&text, item);
        found[used++] = (int32_t)(text.to - text.begin);
        write_code(&text, item);
        found[used++] = (int32_t)(text.to - text.begin);
        item = text.ends[item];
    }
    return Py_BuildValue("NN", PyBytes_FromStringAndSize(text.begin, text.to - text.begin),
                         PyBytes_FromStringAndSize((char *)found, (Py_ssize_t)(sizeof *found * used)));
}
