/* Scans over the text of a page, for tamis.page.text and Page.block_texts. */
#include "page.h"

enum { SPACE, UNSPACED, LETTER, UPPER, DIGIT, COMMA, SENTENCE_END, OTHER, KINDS };

/* What a character adds: a byte for each kind, which is faster than to add to the same place of memory again and again. That of
   SPACE counts words: characters that begin one after a space have it, and `next` leaves it to the next character. */
typedef struct {
    uint64_t counts, next;
} Added;

static Added added_by(unsigned kind)
{
    return kind == SPACE ? (Added){0, UINT64_MAX} : (Added){(uint64_t)1 << 8 * kind | (kind >= LETTER), ~(uint64_t)UINT8_MAX};
}

void count_kinds(Span text, const int64_t *run_offset, Py_ssize_t r, uint32_t *totals, int columns)
{
    uint32_t kinds[KINDS] = {0};
    Added of_ascii[0x80];
    Py_ssize_t i;
    int k;
    for (k = 0; k < 0x80; k++) {
        of_ascii[k] = added_by(KIND & property_of((uint32_t)k));
    }
    for (i = 0; i < r; i++) {
        int64_t left = run_offset[i + 1] - run_offset[i];
        uint64_t mask = UINT64_MAX;
        uint32_t *to = totals + (i + 1) * columns;
        left = skip_white_space(&text, left); /* counts for nothing, and many runs have no more */
        while (left > 0 && text.begin < text.end) {
            int64_t part = left < UINT8_MAX ? left : UINT8_MAX;
            uint64_t counts = 0;
            for (left -= part; part > 0 && text.begin < text.end; part--) {
                Added added = *text.begin < 0x80 ? of_ascii[*text.begin++] : added_by(KIND & next_property(&text));
                counts += added.counts & mask;
                mask = added.next;
            }
            for (k = 0; k < KINDS; k++) {
                kinds[k] += (uint32_t)(counts >> 8 * k & UINT8_MAX);
            }
        }
        to[CHARACTERS] = kinds[UNSPACED] + kinds[LETTER] + kinds[UPPER] + kinds[DIGIT] + kinds[COMMA]
            + kinds[SENTENCE_END] + kinds[OTHER];
        to[WORDS] = kinds[SPACE] + kinds[UNSPACED] / 2;
        to[LETTERS] = kinds[UNSPACED] + kinds[LETTER] + kinds[UPPER];
        to[DIGITS] = kinds[DIGIT];
        to[UPPER_CASE] = kinds[UPPER];
        to[COMMAS] = kinds[COMMA];
        to[SENTENCE_ENDS] = kinds[SENTENCE_END];
        to[SYMBOLS] = kinds[OTHER];
    }
}

/* count_kinds(text, run_offset: int64[r + 1], totals: uint32[r + 1, TOTALS]), of zeros */
PyObject *core_count_kinds(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array run_offset = {0}, totals = {0};
    Span text;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", in_text, &text, in_8, &run_offset, out_4, &totals)
        || !check_tables(core_tables.character_properties != NULL)
        || !check_arrays(run_offset.length >= 1 && totals.length == TOTALS * run_offset.length)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    count_kinds(text, ITEMS(run_offset, int64_t), run_offset.length - 1, ITEMS(totals, uint32_t), TOTALS);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static int are_eight_ascii(Span text)
{
    uint64_t eight;
    return text.end - text.begin >= 8 && (memcpy(&eight, text.begin, 8), (eight & EACH(0x80)) == 0);
}

/* has_controls(bytes) -> whether a text in UTF-8 has characters from U+0080 to U+009F */
PyObject *core_has_controls(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Span text;
    if (!PyArg_ParseTuple(arguments, "O&", in_bytes, &text)) {
        return NULL;
    }
    while ((text.begin = memchr(text.begin, 0xC2, (size_t)(text.end - text.begin))) != NULL && ++text.begin < text.end) {
        if (*text.begin < 0xA0) {
            Py_RETURN_TRUE;
        }
    }
    Py_RETURN_FALSE;
}

/* count_continuations(bytes) -> how many bytes continue characters of UTF-8; -1 for what is not UTF-8 */
PyObject *core_count_continuations(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by number of bytes */
    Py_ssize_t continuations = 0, length;
    Span text;
    if (!PyArg_ParseTuple(arguments, "O&", in_bytes, &text)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    while (continuations >= 0) {
        const unsigned char *at = skip_ascii(text), *next = at;
        uint32_t code;
        if (at == text.end) {
            break;
        }
        code = next_character(&next, text.end);
        length = next - at;
        text.begin = next;
        continuations += length - 1;
        if (length != 2 + (*at >= 0xE0) + (*at >= 0xF0) || code < least[length] || code >= CODE_POINTS
            || (code >= 0xD800 && code < 0xE000)) {
            continuations = -1;
        }
    }
    Py_END_ALLOW_THREADS
    return PyLong_FromSsize_t(continuations);
}

/* How many of the next eight bytes are ASCII without control characters, and without white space after a space. */
static int bytes_in_words(Span text)
{
    uint64_t eight, next, others;
    if (text.end - text.begin < 9) {
        return 0;
    }
    memcpy(&eight, text.begin, 8);
    memcpy(&next, text.begin + 1, 8);
    others = (eight | next | ~(eight + EACH(0x80 - ' ')) | (~(eight + EACH(0x7F - ' ')) & ~(next + EACH(0x7F - ' ')))) & EACH(0x80);
    return others ? __builtin_ctzll(others) / 8 : 8; /* carries of others go to later bytes */
}

char *copy_words(char *to, Span *text, int64_t characters, int *is_spaced)
{
    const unsigned char *word = NULL;
    int64_t more;
    while (characters-- > 0 && text->begin < text->end) {
        const unsigned char *begin = text->begin;
        if (word != NULL && characters > 0 && (more = bytes_in_words(*text)) > 0) {
            more = more < characters ? more : characters; /* the last one may be a space at the end */
            text->begin += more;
            characters -= more - 1;
            continue;
        }
        if (next_property(text) & WHITE_SPACE) {
            if (word != NULL) {
                memcpy(to, word, (size_t)(begin - word));
                to += begin - word;
                word = NULL;
            }
            *is_spaced = 1;
        }
        else if (word == NULL) {
            if (*is_spaced) {
                *to++ = ' ';
            }
            *is_spaced = 0;
            word = begin;
        }
    }
    if (word != NULL) {
        memcpy(to, word, (size_t)(text->begin - word));
        to += text->begin - word;
    }
    return to;
}

int64_t skip_white_space(Span *text, int64_t characters)
{
    Span rest = *text;
    const unsigned char *end = rest.begin;
    for (; characters > 0 && rest.begin < rest.end && next_property(&rest) & WHITE_SPACE; characters--) {
        end = rest.begin;
    }
    text->begin = end;
    return characters;
}

void skip_characters(Span *text, int64_t characters)
{
    while (characters > 0 && text->begin < text->end) {
        if (characters >= 8 && are_eight_ascii(*text)) {
            text->begin += 8;
            characters -= 8;
        }
        else {
            next_character(&text->begin, text->end);
            characters--;
        }
    }
}

int borrow_texts(PyObject *texts, Py_ssize_t count, Span **spans, size_t *size)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, length;
    if (!PyDict_Check(texts)) {
        PyErr_SetString(PyExc_TypeError, "texts must be a dictionary");
        return 0;
    }
    if (PyDict_Size(texts) && (*spans = calloc((size_t)count + 1, sizeof **spans)) == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    while (PyDict_Next(texts, &at, &key, &value)) {
        Py_ssize_t number = PyLong_AsSsize_t(key);
        const char *text;
        if ((number == -1 && PyErr_Occurred()) || !check_arrays(number >= 0 && number < count)
            || (text = PyUnicode_AsUTF8AndSize(value, &length)) == NULL) {
            return 0;
        }
        (*spans)[number] = (Span){(const unsigned char *)text, (const unsigned char *)text + length};
        *size += (size_t)length + 1;
    }
    return 1;
}

static int is_changed(const PageArrays *page, const Span *texts, Py_ssize_t block)
{
    int32_t run = page->block_run_begin[block];
    while (run < page->block_run_end[block] && texts[run].begin == NULL) {
        run++;
    }
    return run < page->block_run_end[block];
}

/* Writes all blocks, or those that other texts of runs change. Returns the length written, or -1 where blocks or runs do not
   follow each other. `to` holds a byte more for each block than the page and the texts of runs have. */
static Py_ssize_t write_blocks(char *to, const PageArrays *page, const Span *texts)
{
    char *start = to;
    Span text = page->text;
    int64_t place = 0; /* of the text, in characters */
    int32_t run = 0;
    Py_ssize_t b;
    for (b = 0; b < page->m; b++) {
        char *block = to;
        int is_spaced = 0;
        if (page->block_run_begin[b] < run) {
            return -1;
        }
        run = page->block_run_end[b];
        if (texts != NULL && !is_changed(page, texts, b)) {
            continue;
        }
        for (run = page->block_run_begin[b]; run < page->block_run_end[b]; run++) {
            int is_other = texts != NULL && texts[run].begin != NULL;
            Span other = is_other ? texts[run] : text, *from = is_other ? &other : &text;
            int64_t characters = page->run_offset[run + 1] - page->run_offset[run];
            if (page->run_offset[run] < place || characters < 0) {
                return -1;
            }
            skip_characters(&text, page->run_offset[run] - place);
            place = page->run_offset[is_other ? run : run + 1];
            characters = is_other ? INT64_MAX : characters;
            characters = to == block ? skip_white_space(from, characters) : characters;
            to = copy_words(to, from, characters, &is_spaced);
        }
        *to++ = '\n';
    }
    return to - start;
}

/* block_texts(page) -> bytes, a line per block
   block_texts(page, texts by run of what is not written as it stands, texts of all blocks as they stand: list)
   -> this list, with the blocks of those runs changed */
PyObject *core_block_texts(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(free_memory) Span *texts = NULL;
    SCOPED(free_memory) char *written = NULL;
    PyObject *texts_of_runs = NULL, *list = NULL, *changed;
    Py_ssize_t length, b;
    size_t size = 0;
    const char *line, *end;
    if (!PyArg_ParseTuple(arguments, "O&|OO!", in_page, &page, &texts_of_runs, &PyList_Type, &list)
        || !check_arrays((list == NULL) == (texts_of_runs == NULL) && (list == NULL || PyList_Size(list) == page.m))
        || (list != NULL && !borrow_texts(texts_of_runs, page.r, &texts, &size))) {
        return NULL;
    }
    if (list != NULL && texts == NULL) {
        return Py_NewRef(list);
    }
    if ((written = malloc(size + (size_t)(page.text.end - page.text.begin) + (size_t)page.m + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    length = write_blocks(written, &page, texts);
    Py_END_ALLOW_THREADS
    if (!check_arrays(length >= 0)) {
        return NULL;
    }
    for (b = 0, line = written; list != NULL && line < written + length; b++) {
        if (is_changed(&page, texts, b)) {
            end = memchr(line, '\n', (size_t)(written + length - line));
            if ((changed = PyUnicode_DecodeUTF8(line, end - line, "strict")) == NULL || PyList_SetItem(list, b, changed) < 0) {
                return NULL;
            }
            line = end + 1;
        }
    }
    return list ? Py_NewRef(list) : PyBytes_FromStringAndSize(written, length ? length - 1 : 0); /* no line feed at the end */
}

int lower_ascii(unsigned char *to, Span text)
{
    const unsigned char *at;
    for (at = text.begin; at < text.end; at++) {
        *to++ = (unsigned char)(*at | ((unsigned char)(*at - 'A') < 26) << 5);
    }
    while ((text.begin = skip_ascii(text)) < text.end) {
        unsigned property = next_property(&text);
        if ((property & KIND) == UPPER || property & IS_UPPER_CASE) {
            return 0;
        }
    }
    return 1;
}

/* The checksum of zlib.crc32; linking zlib is not worth it. */

uint32_t core_crc_table[4][256];

void core_prepare_crc32(void)
{
    uint32_t i;
    for (i = 0; i < 256; i++) {
        uint32_t crc = i;
        int bit, k;
        for (k = 0; k < 4; k++) {
            for (bit = 0; bit < 8; bit++) {
                crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
            }
            core_crc_table[k][i] = crc;
        }
    }
}

uint32_t core_crc32(uint32_t before, const unsigned char *at, const unsigned char *end)
{
    uint32_t crc = ~before;
    for (; end - at >= 4; at += 4) {
        crc ^= at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = core_crc_table[3][crc & 0xFF] ^ core_crc_table[2][crc >> 8 & 0xFF] ^ core_crc_table[1][crc >> 16 & 0xFF]
              ^ core_crc_table[0][crc >> 24];
    }
    while (at < end) {
        crc = crc32_step(crc, *at++);
    }
    return ~crc;
}
