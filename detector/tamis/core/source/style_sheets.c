/* The rules of a style sheet that may say something of a page, for tamis.page.cascade. */
#include "fingerprints.h"

enum { MAX_RULES = 1000, MAX_LEVELS = 16, MAX_PROPERTIES = 64, MAX_DECLARATIONS = 1000, NAME_BITS = 1 << 14 };

/* A property that is looked for, and the first characters of the values that matter, none for all. It makes a rule
   matter by itself, 0, or together with another one: 1 with 2, 4 with 8. */
typedef struct {
    Span name, starts;
    int half;
} Property;

/* Classes and ids: a bit of each, by a hash. */
typedef struct {
    uint64_t bits[NAME_BITS / 64];
} Names;

static void release_object(PyObject **object)
{
    Py_XDECREF(*object);
}

typedef struct {
    Span prelude;
    Py_ssize_t order, first; /* of its rule; of its declarations */
    int is_style, is_skipped, halves; /* 16 for what matters by itself */
} Level;

typedef struct {
    const Names *page, *subjects;
    int is_lax; /* selectors of other states of the subjects, too */
    Property properties[MAX_PROPERTIES];
    uint64_t by_letter[32]; /* bits of the properties by the last five bits of their first character */
    Py_ssize_t count, rules, found;
    Span declarations[MAX_DECLARATIONS];
    Level levels[MAX_LEVELS];
    PyObject *list;
    Bytes text; /* of a rule */
} Sheet;

static Span without_spaces(Span text)
{
    while (text.begin < text.end && is_space(*text.begin)) {
        text.begin++;
    }
    while (text.begin < text.end && is_space(text.end[-1])) {
        text.end--;
    }
    return text;
}

/* Whether a text begins with a word in lower case. */
static int begins(Span text, Span word)
{
    while (word.begin < word.end && text.begin < text.end && lower_of(*text.begin) == *word.begin) {
        word.begin++;
        text.begin++;
    }
    return word.begin == word.end;
}

static uint64_t bit_of(Span name, unsigned char mark)
{
    return hash_of(name, mark) % NAME_BITS;
}

static void add_names(Names *names, Span value, unsigned char mark, const uint8_t *properties)
{
    Span word;
    while (word = next_word(&value, properties), word.begin < word.end) {
        uint64_t bit = bit_of(word, mark);
        names->bits[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

static int has_name(const Names *names, Span name, unsigned char mark)
{
    uint64_t bit = bit_of(name, mark);
    return names->bits[bit / 64] >> bit % 64 & 1;
}

/* Read the rest of a name, without the backslashes of escapes; 0 for one with a code point, which may be any name. */
static int read_name(const unsigned char **at, const unsigned char *end, unsigned char *to, size_t room, Span *name)
{
    int is_plain = 1;
    *name = (Span){to, to};
    for (; *at < end && (is_letter(**at) || is_digit(**at) || strchr("-_\\", **at) || **at >= 0x80); ++*at) {
        if (**at == '\\' && ++*at < end) {
            is_plain &= !is_digit(**at) && !((**at | 0x20) >= 'a' && (**at | 0x20) <= 'f');
        }
        if (*at == end || !room--) {
            return 0;
        }
        *to++ = **at;
        name->end = to;
    }
    return is_plain;
}

/* Whether a selector may choose a subject: all its classes and ids are on the page, those of its last part on a subject. In
   another state it may have others. What stands in brackets or parentheses may be anything. */
static int may_match(const Sheet *sheet, Span selector, int of_subjects)
{
    int depth = 0, is_on_page = 1, is_missing = 0, is_shared = 0; /* the last two of the last part */
    const unsigned char *at = selector.begin;
    while (at < selector.end) {
        unsigned char c = *at++, room[256];
        Span name;
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth > 0) {
            continue;
        }
        if (is_space(c) || c == '>' || c == '+' || c == '~') {
            is_missing = is_shared = 0;
        }
        if ((c == '.' || c == '#') && read_name(&at, selector.end, room, sizeof room, &name)) {
            int is_shared_name = has_name(sheet->subjects, name, c);
            is_on_page &= has_name(sheet->page, name, c);
            is_missing |= !is_shared_name;
            is_shared |= is_shared_name;
        }
    }
    return (is_on_page && !(of_subjects && is_missing)) || (sheet->is_lax && (is_shared || !of_subjects));
}

/* Append a text and a character to that of the rule; 0, or -1 with an exception. */
static int put(Sheet *sheet, Span text, char behind)
{
    size_t length = (size_t)(text.end - text.begin);
    if (reserve(&sheet->text.data, &sheet->text.capacity, sheet->text.used + length + 1) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    if (length) {
        memcpy(sheet->text.data + sheet->text.used, text.begin, length);
    }
    sheet->text.used += length;
    sheet->text.data[sheet->text.used++] = behind;
    return 0;
}

/* Append the selectors of a list that may match, each with a character 1 behind. 1, 0 if there are none, or -1 with an
   exception. */
static int put_selectors(Sheet *sheet, Span list, int of_subjects)
{
    size_t begun = sheet->text.used;
    const unsigned char *at = list.begin;
    int depth = 0;
    for (; at <= list.end; at++) {
        int c = at < list.end ? *at : ',';
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        at += c == '\\' && at + 1 < list.end;
        if (c == ',' && (depth <= 0 || at == list.end)) {
            Span selector = without_spaces((Span){list.begin, at});
            list.begin = at + 1;
            if (selector.begin < selector.end && may_match(sheet, selector, of_subjects)
                && put(sheet, selector, '\1') < 0) {
                return -1;
            }
        }
    }
    return sheet->text.used > begun;
}

/* Append a rule to the list; 0, or -1 with an exception. */
static int end_rule(Sheet *sheet, int depth)
{
    Level *level = &sheet->levels[depth];
    SCOPED(release_object) PyObject *rule = NULL;
    PyObject *text;
    Py_ssize_t k, last = -1;
    for (k = 0; k <= depth; k++) {
        last = sheet->levels[k].is_style ? k : last;
    }
    if (level->is_skipped || last < 0 || sheet->rules == MAX_RULES
        || !(level->halves & 16 || (level->halves & 3) == 3 || (level->halves & 12) == 12)) {
        return 0;
    }
    sheet->text.used = 0;
    for (k = 0; k <= depth; k++) {
        int put_any = sheet->levels[k].is_style ? put_selectors(sheet, sheet->levels[k].prelude, k == last) : 1;
        if (put_any <= 0) {
            return put_any;
        }
        if (put(sheet, sheet->levels[k].is_style ? (Span){NULL, NULL} : sheet->levels[k].prelude, '\0') < 0) {
            return -1;
        }
    }
    for (k = level->first; k < sheet->found; k++) {
        if (put(sheet, sheet->declarations[k], ';') < 0) {
            return -1;
        }
    }
    sheet->rules++;
    text = PyUnicode_DecodeUTF8(sheet->text.data, (Py_ssize_t)sheet->text.used, "replace");
    rule = text ? Py_BuildValue("nN", level->order, text) : NULL;
    return rule == NULL ? -1 : PyList_Append(sheet->list, rule);
}

/* Whether a value may be such that it matters, by its first two characters. */
static int is_among_starts(const Property *property, Span value)
{
    size_t length = (size_t)(property->starts.end - property->starts.begin);
    int next = value.end - value.begin > 1 ? value.begin[1] : 0;
    if (value.begin == value.end || (length && !memchr(property->starts.begin, lower_of(*value.begin), length))) {
        return 0;
    }
    switch (length ? *value.begin : 0) {
    case '#':
        return (next | 0x20) == 'f';
    case '1':
    case '2':
        return (next | 0x20) == 'p';
    case '-':
        return is_digit(next);
    default:
        return 1;
    }
}

/* Keep a declaration of a property that is looked for. */
static void read_declaration(Sheet *sheet, Level *level, Span text)
{
    const unsigned char *colon;
    uint64_t bits;
    Span name, value;
    text = without_spaces(text);
    if ((colon = memchr(text.begin, ':', (size_t)(text.end - text.begin))) == NULL || sheet->found == MAX_DECLARATIONS) {
        return;
    }
    name = without_spaces((Span){text.begin, colon});
    value = without_spaces((Span){colon + 1, text.end});
    for (bits = name.begin < name.end ? sheet->by_letter[*name.begin & 31] : 0; bits; bits &= bits - 1) {
        const Property *property = &sheet->properties[__builtin_ctzll(bits)];
        if (property->name.end - property->name.begin == name.end - name.begin && begins(name, property->name)
            && is_among_starts(property, value)) {
            sheet->declarations[sheet->found++] = text;
            level->halves |= property->half ? property->half : 16;
            return;
        }
    }
}

/* Whether the rules in a block may be of the page, by the text before its brace. */
static int is_group(Span prelude)
{
    static const char *const groups[] = {"@media", "@supports", "@layer", "@scope"};
    size_t k;
    for (k = 0; k < sizeof groups / sizeof *groups; k++) {
        const unsigned char *group = (const unsigned char *)groups[k];
        if (begins(prelude, (Span){group, group + strlen(groups[k])})) {
            return 1;
        }
    }
    return 0;
}

/* Where a string or comment ends. */
static const unsigned char *skip(const unsigned char *at, const unsigned char *end)
{
    unsigned char first = *at++;
    if (first == '/') {
        while (++at < end && (at = memchr(at, '*', (size_t)(end - at))) != NULL && at + 1 < end && at[1] != '/') {
        }
        return at && at + 2 <= end ? at + 2 : end;
    }
    while (at < end && *at != first && *at != '\n') {
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    }
    return at + (at < end);
}

/* Without what hides a sheet from browsers of 1996. */
static Span without_comment_marks(Span text)
{
    for (;;) {
        text = without_spaces(text);
        if (text.end - text.begin > 3 && memcmp(text.begin, "<!--", 4) == 0) {
            text.begin += 4;
        }
        else if (text.end - text.begin > 2 && memcmp(text.begin, "-->", 3) == 0) {
            text.begin += 3;
        }
        else {
            return text;
        }
    }
}

/* Read a sheet, which is copied without its comments into as much room; 0, or -1 with an exception. */
static int read_rules(Sheet *sheet, Span css, unsigned char *to)
{
    static const char marks[] = "{};\"'/\\()[]";
    unsigned char is_mark[256] = {0}, *begin = to; /* of a statement */
    const unsigned char *at = css.begin;
    int depth = -1, skipped = 0, brackets = 0;     /* skipped: blocks below the deepest level */
    Py_ssize_t order = 0;
    size_t k;
    for (k = 0; k + 1 < sizeof marks; k++) {
        is_mark[(unsigned char)marks[k]] = 1;
    }
    while (at < css.end || depth >= 0) {
        const unsigned char *from = at;
        int c = '}', in_rule; /* blocks end where the sheet does */
        while (at < css.end && !is_mark[*at]) {
            at++;
        }
        memcpy(to, from, (size_t)(at - from));
        to += at - from;
        if (at < css.end) {
            c = *at;
        }
        else {
            brackets = 0;
        }
        if (c == '"' || c == '\'' || (c == '/' && at + 1 < css.end && at[1] == '*')) {
            const unsigned char *end = skip(at, css.end);
            if (c != '/') {
                memcpy(to, at, (size_t)(end - at));
                to += end - at;
            }
            at = end;
            continue;
        }
        brackets += (c == '(' || c == '[') - ((c == ')' || c == ']') && brackets);
        if ((c != '{' && c != '}' && c != ';') || (brackets && at < css.end)) {
            size_t length = c == '\\' && at + 1 < css.end ? 2 : 1;
            memcpy(to, at, length);
            to += length;
            at += length;
            continue;
        }
        in_rule = depth >= 0 && !skipped && !sheet->levels[depth].is_skipped;
        if (c != '{' && in_rule) {
            read_declaration(sheet, &sheet->levels[depth], (Span){begin, to});
        }
        if (c == '{') {
            Span prelude = without_comment_marks((Span){begin, to});
            int is_style = prelude.begin < prelude.end && *prelude.begin != '@';
            if (depth + 1 == MAX_LEVELS) {
                skipped++;
            }
            else {
                int is_skipped = (depth >= 0 && sheet->levels[depth].is_skipped) || !(is_style || is_group(prelude));
                sheet->levels[++depth] = (Level){prelude, order++, sheet->found, is_style, is_skipped, 0};
            }
        }
        else if (c == '}' && skipped) {
            skipped--;
        }
        else if (c == '}' && depth >= 0) {
            if (end_rule(sheet, depth) < 0) {
                return -1;
            }
            sheet->found = sheet->levels[depth--].first;
        }
        at += at < css.end;
        begin = to;
    }
    return 0;
}

/* style_rules(values, subjects: bool[a], css: bytes of UTF-8, wanted: str, is_lax, class, id, properties)
   -> list of (order, str)

   The rules that set a property that is wanted on elements of a page, in the order in which they end, without comments:
   the preludes of the blocks around the declarations, with a zero character behind each, and a character 1 behind each
   selector; then the declarations. Only selectors that may match are there. wanted: a property a line, a space, its half,
   and the first characters of the values that matter. subjects: the attributes, by first attribute, of the elements that
   matter. is_lax: also of other states of these elements, in which they have other classes. class, id: numbers of the
   names, -1 for none. */
PyObject *core_style_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array subjects = {0}, properties = {0};
    SCOPED(free_memory) unsigned char *room = NULL;
    SCOPED(free_memory) Sheet *sheet = NULL;
    SCOPED(free_memory) Names *names = NULL;
    SCOPED(free_memory) char *text = NULL;
    Span css, wanted;
    int is_lax, class, id, failed;
    Py_ssize_t i;
    PyObject *list;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&piiO&", in_values, &values, in_1, &subjects, in_bytes, &css, in_text, &wanted,
                          &is_lax, &class, &id, in_properties, &properties)
        || !check_arrays(values.places <= subjects.length)) {
        return NULL;
    }
    room = malloc((size_t)(css.end - css.begin) + 1);
    sheet = calloc(1, sizeof *sheet);
    names = calloc(2, sizeof *names);
    if (room == NULL || sheet == NULL || names == NULL) {
        return PyErr_NoMemory();
    }
    for (i = 0; css.begin < css.end && i < values.d; i++) {
        int32_t name = values.name_of[i];
        if (name == class || name == id) {
            unsigned char mark = name == class ? '.' : '#';
            add_names(&names[0], value_of(&values, i), mark, ITEMS(properties, uint8_t));
            if (ITEMS(subjects, uint8_t)[values.place[i]]) {
                add_names(&names[1], value_of(&values, i), mark, ITEMS(properties, uint8_t));
            }
        }
    }
    while (wanted.begin < wanted.end && sheet->count < MAX_PROPERTIES) {
        Span line = next_line(&wanted);
        const unsigned char *space = memchr(line.begin, ' ', (size_t)(line.end - line.begin));
        if (space != NULL && space + 2 < line.end + 1) {
            sheet->by_letter[*line.begin & 31] |= (uint64_t)1 << sheet->count;
            sheet->properties[sheet->count++] = (Property){{line.begin, space}, {space + 2, line.end}, space[1] - '0'};
        }
    }
    if ((list = PyList_New(0)) == NULL) {
        return NULL;
    }
    sheet->page = &names[0];
    sheet->subjects = &names[1];
    sheet->is_lax = is_lax;
    sheet->list = list;
    failed = read_rules(sheet, css, room) < 0;
    text = sheet->text.data;
    if (failed) {
        Py_CLEAR(list);
    }
    return list;
}
