/* Tokens of a page's distinct attributes. */
#include "fingerprints.h"

/* How the value of an attribute is read, by its name; winnow.fingerprints has the same numbers. */
enum { UNCOUNTED, NAME, TEXT, LINK, TYPE, VALUE };

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
        small[i] = (unsigned char)lower_of(value.begin[i]);
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

/* attribute_tokens(values, names: tuple of str, kinds: uint8[names], words, place of the page, properties,
                    tokens: uint64[a], marks: uint8[a])

   words: those that say a state, beginnings and endings of others, types of controls that their values label; lines of
   ASCII. place: whether it is known, host, folder, own address; UTF-8. Tokens and marks of what has none stay as they are. */
PyObject *core_attribute_tokens(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array kinds = {0}, properties = {0}, tokens = {0}, marks = {0};
    SCOPED(free_memory) Span *names = NULL;
    PyObject *name_tuple;
    Known known;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(arguments, "O&O!O&(O&O&O&O&)(pO&O&O&)O&O&O&", in_values, &values, &PyTuple_Type, &name_tuple, in_1,
                          &kinds, in_bytes, &known.states.words, in_bytes, &known.states.beginnings, in_bytes,
                          &known.states.endings, in_bytes, &known.labelling, &known.place.is_known, in_bytes,
                          &known.place.host, in_bytes, &known.place.folder, in_bytes, &known.place.own, in_properties,
                          &properties, out_8, &tokens, out_1, &marks)
        || !check_arrays(values.names <= kinds.length && kinds.length == PyTuple_Size(name_tuple)
                         && values.places <= tokens.length && tokens.length == marks.length)) {
        return NULL;
    }
    if ((names = malloc(sizeof(Span) * (size_t)kinds.length + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    for (i = 0; i < kinds.length; i++) {
        if (!in_text(PyTuple_GetItem(name_tuple, i), &names[i])) {
            return NULL;
        }
    }
    known.properties = ITEMS(properties, uint8_t);
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < values.d; i++) {
        int32_t name = values.name_of[i], place = values.place[i];
        int kind = ITEMS(kinds, uint8_t)[name];
        if (kind != UNCOUNTED) {
            read_one(&known, kind, names[name], value_of(&values, i), &ITEMS(tokens, uint64_t)[place],
                     &ITEMS(marks, uint8_t)[place]);
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
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
        if (*at == ':') {
            return at > link.begin;
        }
        if (!is_letter(*at) && (at == link.begin || !(is_digit(*at) || *at == '+' || *at == '.' || *at == '-'))) {
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
