/* Tokens of a page's distinct attributes. */
#include "fingerprints.h"

/* How the value of an attribute is read, by its name; winnow.fingerprints has the same numbers. */
enum { UNCOUNTED, NAME, TEXT, LINK, TYPE, VALUE };

enum { DATA_BEGIN, NAME_OF, FIRSTS, KINDS, PROPERTIES, TOKENS, MARKS, ARRAYS };

enum { STATE_WORDS, STATE_BEGINNINGS, STATE_ENDINGS, LABELLING, HOST, FOLDER, OWN, SPANS };

typedef struct {
    States states;
    Place place;
    Span labelling;
    const uint8_t *properties;
} Known;

/* Write the words of a text with a space between them. */
static int put_text(Piece *to, Span value, const uint8_t *properties)
{
    size_t begun = to->length;
    while (value.begin < value.end) {
        Span word = {value.begin, value.begin};
        while (word.end < value.end) {
            const unsigned char *next = word.end;
            if (property_of(properties, next_character(&next, value.end)) & WHITE_SPACE) {
                value.begin = next;
                break;
            }
            value.begin = word.end = next;
        }
        if (word.begin == word.end) {
            continue;
        }
        if (to->length > begun) {
            piece_put(to, (const unsigned char *)" ", 1);
        }
        piece_put(to, word.begin, (size_t)(word.end - word.begin));
    }
    return !to->is_full;
}

/* Whether the value of this type of control is its label; ignores case. */
static int is_labelling(Span value, Span types)
{
    unsigned char small[16];
    size_t length = (size_t)(value.end - value.begin), i;
    if (length > sizeof small) {
        return 0;
    }
    for (i = 0; i < length; i++) {
        unsigned char c = value.begin[i];
        small[i] = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
    }
    return is_line_of(types, (Span){small, small + length});
}

/* Write token and marks of one attribute. */
static void read_one(const Known *known, int kind, Span name, Span value, uint64_t *token, uint8_t *mark)
{
    Piece piece;
    size_t begun;
    int done;
    *mark = (uint8_t)(kind == VALUE ? IS_VALUE : kind == TYPE && is_labelling(value, known->labelling) ? IS_LABELLED : 0);
    if (kind == LINK) {
        if (!token_of_link(value, &known->place, token)) {
            *mark |= IS_LEFT;
        }
        return;
    }
    piece.length = 0;
    piece.is_full = 0;
    piece_put(&piece, name.begin, (size_t)(name.end - name.begin));
    piece_put(&piece, (const unsigned char *)"=", 1);
    begun = piece.length;
    done = kind == TEXT || kind == VALUE ? put_text(&piece, value, known->properties)
                                         : put_stable_name(&piece, value, &known->states);
    if (!done) {
        *mark |= IS_LEFT;
    }
    else if (piece.length > begun) {
        *token = hash_bytes(piece.data, piece.length);
    }
}

/* 0, or -1 if an index is out of range. */
static int read_all(const Known *known, const Array *arrays, const Span *names, const unsigned char *data, Py_ssize_t size)
{
    const int64_t *begin = ITEMS(arrays[DATA_BEGIN], int64_t);
    Py_ssize_t i;
    for (i = 0; i < arrays[NAME_OF].length; i++) {
        int32_t name = ITEMS(arrays[NAME_OF], int32_t)[i], at = ITEMS(arrays[FIRSTS], int32_t)[i];
        if (name < 0 || name >= arrays[KINDS].length || at < 0 || at >= arrays[TOKENS].length || begin[i] < 0
            || begin[i + 1] < begin[i] || begin[i + 1] > size) {
            return -1;
        }
        if (ITEMS(arrays[KINDS], uint8_t)[name] != UNCOUNTED) {
            Span value = {data + begin[i], data + begin[i + 1]};
            read_one(known, ITEMS(arrays[KINDS], uint8_t)[name], names[name], value, &ITEMS(arrays[TOKENS], uint64_t)[at],
                     &ITEMS(arrays[MARKS], uint8_t)[at]);
        }
    }
    return 0;
}

/* Borrow the texts of a tuple of names; NULL with an exception where it holds something else. */
static Span *spans_of(PyObject *tuple)
{
    Py_ssize_t count = PyTuple_Size(tuple), i;
    Span *spans = malloc(sizeof(Span) * (size_t)count + 1);
    if (spans == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (i = 0; i < count; i++) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &length);
        if (text == NULL) {
            free(spans);
            return NULL;
        }
        spans[i].begin = (const unsigned char *)text;
        spans[i].end = spans[i].begin + length;
    }
    return spans;
}

/* attribute_tokens(values, value_begin: int64[d + 1], name_of: int32[d], place: int32[d], names, kinds: uint8[names],
                    words, place of the page, properties, tokens: uint64[a], marks: uint8[a])

   words: those that say a state, beginnings and endings of others, types of controls that their values label; lines of
   ASCII. place: whether it is known, host, folder, own address; UTF-8. Tokens and marks of what has none stay as they are. */
PyObject *core_attribute_tokens(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static const char *const names_of[ARRAYS] = {"value_begin", "name_of", "place", "kinds", "properties", "tokens", "marks"};
    static const int sizes[ARRAYS] = {8, 4, 4, 1, 1, 8, 1};
    PyObject *objects[ARRAYS], *list, *held = NULL, *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    const char *data, *texts[SPANS];
    Py_ssize_t size, lengths[SPANS];
    Span spans[SPANS], *names = NULL;
    Known known;
    int is_known, k, failed;
    if (!PyArg_ParseTuple(arguments, "y#OOOO!O(y#y#y#y#)(py#y#y#)OOO", &data, &size, &objects[DATA_BEGIN],
                          &objects[NAME_OF], &objects[FIRSTS], &PyList_Type, &list, &objects[KINDS], &texts[0], &lengths[0],
                          &texts[1], &lengths[1], &texts[2], &lengths[2], &texts[3], &lengths[3], &is_known, &texts[4],
                          &lengths[4], &texts[5], &lengths[5], &texts[6], &lengths[6], &objects[PROPERTIES],
                          &objects[TOKENS], &objects[MARKS])) {
        return NULL;
    }
    held = PyList_AsTuple(list); /* other threads may change the list while the GIL is released */
    if (held == NULL || arrays_borrow(arrays, objects, sizes, names_of, ARRAYS, TOKENS) < 0) {
        goto done;
    }
    if (arrays[DATA_BEGIN].length != arrays[NAME_OF].length + 1 || arrays[FIRSTS].length != arrays[NAME_OF].length
        || arrays[KINDS].length != PyTuple_Size(held) || arrays[PROPERTIES].length != CODE_POINTS
        || arrays[TOKENS].length != arrays[MARKS].length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    if ((names = spans_of(held)) == NULL) {
        goto done;
    }
    for (k = 0; k < SPANS; k++) {
        spans[k].begin = (const unsigned char *)texts[k];
        spans[k].end = spans[k].begin + lengths[k];
    }
    known.states = (States){spans[STATE_WORDS], spans[STATE_BEGINNINGS], spans[STATE_ENDINGS]};
    known.place = (Place){is_known, spans[HOST], spans[FOLDER], spans[OWN]};
    known.labelling = spans[LABELLING];
    known.properties = ITEMS(arrays[PROPERTIES], uint8_t);
    Py_BEGIN_ALLOW_THREADS
    failed = read_all(&known, arrays, names, (const unsigned char *)data, size);
    Py_END_ALLOW_THREADS
    if (failed) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of attributes");
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    free(names);
    Py_XDECREF(held);
    arrays_release(arrays, ARRAYS);
    return result;
}

/* Links in one form per target: see winnow.fingerprints. Links with parameters, with dots in their path
   or with other characters than ASCII are left to Python. */

static int begins_with(Span text, const char *beginning, Span then)
{
    size_t length = strlen(beginning), more = (size_t)(then.end - then.begin);
    return (size_t)(text.end - text.begin) >= length + more && memcmp(text.begin, beginning, length) == 0
           && memcmp(text.begin + length, then.begin, more) == 0;
}

static int has_scheme(Span link)
{
    const unsigned char *at = link.begin;
    for (; at < link.end; at++) {
        unsigned char small = *at | 0x20;
        int is_letter = small >= 'a' && small <= 'z';
        if (*at == ':') {
            return at > link.begin;
        }
        if (!is_letter && (at == link.begin || !((*at >= '0' && *at <= '9') || *at == '+' || *at == '.' || *at == '-'))) {
            return 0;
        }
    }
    return 0;
}

/* A path with a part that begins with a dot. */
static int has_dots(Span link)
{
    const unsigned char *at;
    for (at = link.begin; at + 1 < link.end; at++) {
        if (at[0] == '/' && at[1] == '.') {
            return 1;
        }
    }
    return 0;
}

static int put(Piece *to, Span text)
{
    piece_put(to, text.begin, (size_t)(text.end - text.begin));
    return !to->is_full;
}

static int put_below(Piece *to, Span folder, Span link)
{
    if (link.begin < link.end && (*link.begin == '.' || has_dots(link))) {
        return 0;
    }
    piece_put(to, (const unsigned char *)"/", 1);
    return put(to, folder) && put(to, link);
}

static int put_resolved(Piece *to, Span link, const Place *place)
{
    static const char *const schemes[3] = {"https://", "http://", "//"};
    static const Span nothing = {(const unsigned char *)"", (const unsigned char *)""};
    int has_colon, scheme;
    if (!place->is_known || link.begin == link.end || *link.begin == '#' || *link.begin == '?') {
        return put(to, link);
    }
    if (*link.begin == '/' && !begins_with(link, "//", nothing)) {
        return has_dots(link) ? 0 : put(to, link);
    }
    has_colon = memchr(link.begin, ':', (size_t)(link.end - link.begin)) != NULL;
    if (*link.begin != '/' && !begins_with(link, "http", nothing)) {
        return has_colon && has_scheme(link) ? put(to, link) : put_below(to, place->folder, link);
    }
    for (scheme = 0; scheme < 3; scheme++) {
        if (begins_with(link, schemes[scheme], place->host)) {
            Span rest = {link.begin + strlen(schemes[scheme]) + (place->host.end - place->host.begin), link.end};
            if (rest.begin == rest.end || *rest.begin == '/' || *rest.begin == '?' || *rest.begin == '#') {
                if (rest.begin == rest.end || *rest.begin != '/') {
                    piece_put(to, (const unsigned char *)"/", 1);
                }
                return put(to, rest);
            }
        }
    }
    return has_colon || *link.begin == '/' ? put(to, link) : put_below(to, place->folder, link);
}

int token_of_link(Span link, const Place *place, uint64_t *token)
{
    Piece resolved;
    const unsigned char *begin = resolved.data, *mark;
    size_t own = (size_t)(place->own.end - place->own.begin);
    resolved.length = 0;
    resolved.is_full = 0;
    while (link.begin < link.end && is_ascii_space(*link.begin)) {
        link.begin++;
    }
    while (link.begin < link.end && is_ascii_space(link.end[-1])) {
        link.end--;
    }
    if (!is_all_ascii(link) || memchr(link.begin, '=', (size_t)(link.end - link.begin)) != NULL
        || !put_resolved(&resolved, link, place)) {
        return 0;
    }
    mark = memchr(begin, '#', resolved.length);
    if (mark != NULL && place->is_known && (size_t)(mark - begin) == own && memcmp(begin, place->own.begin, own) == 0) {
        *token = hash_bytes(mark, resolved.length - own); /* a fragment of the page itself */
    }
    else {
        *token = hash_bytes(begin, resolved.length);
    }
    return 1;
}
