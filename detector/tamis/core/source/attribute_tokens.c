/* Tokens of a page's distinct attributes: names as a site's template has them, links in one form per target. */
#include "fingerprints.h"

Span next_word(Span *text)
{
    Span rest = *text, word = {rest.begin, rest.begin};
    while (rest.begin < rest.end) {
        if (next_property(&rest) & WHITE_SPACE) {
            if (word.begin < word.end) {
                break;
            }
            word.begin = rest.begin;
        }
        word.end = rest.begin;
    }
    text->begin = rest.begin;
    return word;
}

unsigned char *without_numbers(Span text, unsigned char *to)
{
    while (text.begin < text.end) {
        if (!is_digit(*text.begin)) {
            *to++ = *text.begin++;
            continue;
        }
        *to++ = '#';
        while (text.begin < text.end && is_digit(*text.begin)) {
            text.begin++;
        }
    }
    return to;
}

/* Whether an entry of a list is this part of a word. */
enum { WHOLE, BEGINNING, ENDING };
static int is_listed(Span list, Span word, int part)
{
    while (list.begin < list.end) {
        Py_ssize_t length = *list.begin++, more = word.end - word.begin - length;
        const unsigned char *listed = list.begin, *same = word.begin + (part == ENDING ? more : 0);
        if (length < 1 || length > list.end - listed) {
            break;
        }
        list.begin += length;
        if ((part == WHOLE ? more == 0 : more >= 0) && *same == *listed && memcmp(same, listed, (size_t)length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* ---- Names without states and numbers */

#define IS_HEXADECIMAL(c) (is_digit(c) || ((c) >= 'a' && (c) <= 'f'))

static size_t hexadecimals(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *begin = at;
    while (at < end && IS_HEXADECIMAL(*at)) {
        at++;
    }
    return (size_t)(at - begin);
}

/* Length of the long hexadecimal that begins here: a UUID, or twelve digits and more; 0 for none. */
static size_t long_hexadecimal(const unsigned char *at, const unsigned char *end, int goes_on)
{
    static const size_t groups[5] = {8, 4, 4, 4, 12};
    size_t length = 0;
    int group;
    for (group = 0; group < 5; group++) {
        size_t left = (size_t)(end - at) - length;
        if (left < groups[group] || hexadecimals(at + length, at + length + groups[group]) < groups[group]) {
            break;
        }
        length += groups[group];
        if (group == 4) {
            return length;
        }
        if (at + length == end || at[length] != '-') {
            break;
        }
        length++;
    }
    if (goes_on) {
        return 0;
    }
    length = hexadecimals(at, end);
    return length >= 12 ? length : 0;
}

/* "#" for each long hexadecimal; returns where the text ends. */
static unsigned char *without_hexadecimals(Span text, unsigned char *to)
{
    const unsigned char *at = text.begin;
    while (at < text.end) {
        size_t length = 0;
        if (IS_HEXADECIMAL(*at)) {
            length = long_hexadecimal(at, text.end, at > text.begin && IS_HEXADECIMAL(at[-1]));
        }
        if (length) {
            *to++ = '#';
            at += length;
        }
        else {
            *to++ = *at++;
        }
    }
    return to;
}

/* Append the stable form of a name. */
static void put_stable_name(Piece *to, Span value, const AttributeReader *reader)
{
    const Span *lists = reader->lists;
    unsigned char *scratch = reader->scratch;
    Span name = {scratch, without_numbers(value, scratch)}, word;
    size_t begun = to->length;
    int marks = 0;
    const unsigned char *at;
    for (at = name.begin; at < name.end; at++) {
        marks += *at == '#';
    }
    if (marks > 2) {
        Span shorter = {scratch + (value.end - value.begin), NULL};
        shorter.end = without_hexadecimals(value, scratch + (value.end - value.begin));
        name.end = without_numbers(shorter, scratch);
    }
    while (word = next_word(&name), word.begin < word.end) {
        if (is_listed(lists[STATES], word, WHOLE) || is_listed(lists[STATE_BEGINNINGS], word, BEGINNING)
            || is_listed(lists[STATE_ENDINGS], word, ENDING)) {
            continue;
        }
        piece_put_word(to, begun, word);
    }
}

/* ---- Links in one form per target */

/* The first letters of a text in lower case. */
static Span lower(Span text, unsigned char *to, Py_ssize_t room)
{
    Span small = {to, to};
    for (; text.begin < text.end && small.end - small.begin < room; text.begin++) {
        *to++ = (unsigned char)lower_of(*text.begin);
        small.end = to;
    }
    return small;
}

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

/* A text without the white space around it. */
static Span stripped(Span text)
{
    Span word = next_word(&text), all = word;
    while (word = next_word(&text), word.begin < word.end) {
        all.end = word.end;
    }
    return all;
}

/* Where the value of a parameter begins if its name, which begins here, is in a list or longer than one of the beginnings;
   NULL if not. */
static const unsigned char *value_of_parameter(Span link, Span names, Span beginnings)
{
    unsigned char small[32]; /* no name in a list is as long */
    Span name = {link.begin, link.begin}, longer;
    while (name.end < link.end && (is_letter(*name.end) || is_digit(*name.end) || *name.end == '_')) {
        name.end++;
    }
    if (name.begin == name.end || name.end == link.end || *name.end != '=') {
        return NULL;
    }
    link.begin = name.end + 1;
    name = longer = lower(name, small, sizeof small);
    longer.end--;
    return is_listed(names, name, WHOLE) || is_listed(beginnings, longer, BEGINNING) ? link.begin : NULL;
}

static int is_among(int c, const char *characters)
{
    return c && strchr(characters, c);
}

/* Copy a link without the parameters whose value is of one visit, one release or one referring page. */
static Span without_volatile(Span link, const Span *lists, unsigned char *copy)
{
    unsigned char *to = copy;
    const unsigned char *value;
    while (link.begin < link.end) {
        Span after = {link.begin + 1, link.end};
        if (*link.begin == ';' && (value = value_of_parameter(after, lists[SESSIONS], (Span){NULL, NULL})) != NULL) {
            for (link.begin = value; link.begin < link.end && !is_among(*link.begin, "?#;/"); link.begin++) {
            }
            continue;
        }
        *to++ = *link.begin++;
    }
    link = (Span){copy, to};
    for (to = copy; link.begin < link.end;) {
        if (link.begin > copy && is_among(link.begin[-1], "?&;")
            && (value = value_of_parameter(link, lists[VOLATILE], lists[VOLATILE_BEGINNINGS])) != NULL) {
            for (link.begin = value; link.begin < link.end && !is_among(*link.begin, "&;#"); link.begin++) {
            }
            link.begin += link.begin < link.end && *link.begin != '#';
            continue;
        }
        *to++ = *link.begin++;
    }
    while (to > copy && (to[-1] == '?' || to[-1] == '&')) {
        to--;
    }
    return (Span){copy, to};
}

/* Write the path of a relative link in a folder, without "." and "..". */
static void put_below(Piece *to, Span folder, Span link)
{
    size_t root = to->length + 1;
    const unsigned char *end = link.begin;
    while (end < link.end && *end != '?' && *end != '#') {
        end++;
    }
    to->data[to->length++] = '/';
    piece_put(to, folder);
    for (;;) {
        Span part = {link.begin, link.begin};
        while (part.end < end && *part.end != '/') {
            part.end++;
        }
        link.begin = part.end;
        if (part.end - part.begin == 2 && part.begin[0] == '.' && part.begin[1] == '.') {
            while (to->length > root && to->data[--to->length - 1] != '/') {
            }
        }
        else if (part.end - part.begin != 1 || *part.begin != '.') {
            piece_put(to, part);
            if (part.end < end) {
                to->data[to->length++] = '/';
            }
        }
        if (part.end == end) {
            break;
        }
        link.begin++;
    }
    piece_put(to, link);
}

static void put_resolved(Piece *to, Span link, const Place *place)
{
    static const char *const schemes[3] = {"https://", "http://", "//"};
    const Span nothing = span_of("");
    int has_colon, scheme;
    if (!place->is_known || link.begin == link.end || *link.begin == '#' || *link.begin == '?') {
        piece_put(to, link);
        return;
    }
    if (*link.begin == '/' && !begins_with(link, "//", nothing)) {
        put_below(to, nothing, (Span){link.begin + 1, link.end});
        return;
    }
    has_colon = memchr(link.begin, ':', (size_t)(link.end - link.begin)) != NULL;
    for (scheme = 0; scheme < 3; scheme++) {
        if (begins_with(link, schemes[scheme], place->host)) {
            Span rest = {link.begin + strlen(schemes[scheme]) + (place->host.end - place->host.begin), link.end};
            if (rest.begin == rest.end || *rest.begin == '/' || *rest.begin == '?' || *rest.begin == '#') {
                if (rest.begin == rest.end || *rest.begin != '/') {
                    to->data[to->length++] = '/';
                }
                piece_put(to, rest);
                return;
            }
        }
    }
    if (*link.begin == '/' || (begins_with(link, "http", nothing) ? has_colon : has_scheme(link))) {
        piece_put(to, link);
    }
    else {
        put_below(to, place->folder, link);
    }
}

/* Append the target of a link. */
static void put_target(Piece *to, Span link, const AttributeReader *reader)
{
    const Place *place = &reader->place;
    size_t begun = to->length, own = (size_t)(place->own.end - place->own.begin);
    const unsigned char *mark;
    link = stripped(link);
    if (memchr(link.begin, '=', (size_t)(link.end - link.begin)) != NULL) {
        link = without_volatile(link, reader->lists, reader->scratch);
    }
    put_resolved(to, link, place);
    mark = memchr(to->data + begun, '#', to->length - begun);
    if (mark != NULL && place->is_known && (size_t)(mark - to->data) == begun + own
        && memcmp(to->data + begun, place->own.begin, own) == 0) { /* a place in the page itself */
        to->length -= own;
        memmove(to->data + begun, mark, to->length - begun);
    }
}

/* ---- Tokens */

/* How the value of an attribute is read, by its name; tamis.fingerprints has the same numbers. */
enum { UNCOUNTED, NAME, TEXT, LINK, TYPE, VALUE };

/* Write what an attribute says, and its marks; a name that says nothing is nothing. */
static void read_one(const AttributeReader *reader, int kind, Span name, Span value, Piece *piece, uint8_t *mark)
{
    unsigned char small[16];
    size_t begun;
    Span word;
    piece->length = 0;
    *mark = (uint8_t)(kind == VALUE ? IS_VALUE : 0);
    if (kind == LINK) {
        put_target(piece, value, reader);
        return;
    }
    if (kind == TYPE && is_listed(reader->lists[LABELLING], lower(value, small, sizeof small), WHOLE)) {
        *mark = IS_LABELLED;
    }
    piece_put(piece, name);
    piece->data[piece->length++] = '=';
    begun = piece->length;
    if (kind != TEXT && kind != VALUE) {
        put_stable_name(piece, value, reader);
    }
    else {
        while (word = next_word(&value), word.begin < word.end) {
            piece_put_word(piece, begun, word);
        }
    }
    piece->length = piece->length > begun ? piece->length : 0;
}

int read_attributes(const AttributeValues *values, AttributeReader *reader, uint64_t *tokens, uint8_t *marks)
{
    SCOPED(free_memory) Span *names = NULL;
    SCOPED(free_memory) unsigned char *memory = NULL;
    Span lines = reader->names, address = reader->place.own;
    Piece piece = {0};
    Py_ssize_t i, longest = address.end - address.begin + values->begin[values->d]; /* at most, for the address or a value */
    size_t folder = (size_t)(reader->place.folder.end - reader->place.folder.begin);
    names = malloc(sizeof(Span) * (size_t)reader->kinds.length + 1);
    /* the address as a link has it, twice a value, and a value after its name, or after the folder and slashes */
    memory = malloc(2 * folder + (size_t)(lines.end - lines.begin + 4 * longest) + 8);
    if (names == NULL || memory == NULL) {
        return -1;
    }
    for (i = 0; i < reader->kinds.length; i++) {
        names[i] = next_line(&lines);
    }
    reader->scratch = memory;
    reader->place.own = (Span){address.begin, address.begin};
    piece.data = memory + 2 * longest;
    put_target(&piece, address, reader);
    reader->place.own = (Span){piece.data, piece.data + piece.length};
    piece.data += piece.length;
    for (i = 0; i < values->d; i++) {
        int32_t name = values->name_of[i], place = values->first_index[i];
        int kind = ITEMS(reader->kinds, uint8_t)[name];
        if (kind == UNCOUNTED) {
            continue;
        }
        read_one(reader, kind, names[name], value_of(values, i), &piece, &marks[place]);
        if (piece.length || kind == LINK) {
            tokens[place] = hash_bytes(piece.data, piece.length);
        }
    }
    return 0;
}
