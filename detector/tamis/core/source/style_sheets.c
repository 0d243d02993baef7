/* The rules of a style sheet that may say something of a page, for tamis.page.cascade. */
#include "fingerprints.h"

enum { MAX_RULES = 1000, MAX_LEVELS = 16, MAX_PROPERTIES = 64, MAX_DECLARATIONS = 1000, NAME_BITS = 1 << 14 };
enum { MAX_TAGS = 256 };
enum { ELEMENT = 'a' }; /* the mark of a name of elements */

/* A property that is looked for, and the first characters of the values that matter, none for all. It makes a rule
   matter by itself, 0, or together with another one: 1 with 2, 4 with 8. */
typedef struct {
    Span name, starts;
    int half;
} Property;

/* Classes, ids, and names of elements and attributes: a bit of each, by a hash. */
typedef struct {
    uint64_t bits[NAME_BITS / 64];
} Names;

/* A name of attributes: the mark of the words in its values, 0 for none; and whether it is noted of the page and of subjects. */
typedef struct {
    Span name;
    unsigned char mark, is_style, is_noted[2];
} Attribute;

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

static void add_name(Names *names, Span name, unsigned char mark)
{
    uint64_t bit = bit_of(name, mark);
    names->bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void add_words(Names *names, Span value, unsigned char mark, const uint8_t *properties)
{
    Span word;
    while (word = next_word(&value, properties), word.begin < word.end) {
        add_name(names, word, mark);
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

/* What a part of a selector is by its first character: a class, an id, a name of elements or of attributes; 0 for others. */
static unsigned char mark_of(const unsigned char *at, const unsigned char *end, int is_first)
{
    if (*at == '.' || *at == '#' || *at == '[') {
        return *at;
    }
    return is_first && is_letter(*at) && !memchr(at, '|', (size_t)(end - at)) ? ELEMENT : 0;
}

/* Whether a selector may choose a subject: all its names are on the page, those of its last part on a subject. In another
   state it may have other classes, ids and attributes. What stands in brackets or parentheses may be anything. */
static int may_match(const Sheet *sheet, Span selector, int of_subjects)
{
    int depth = 0, is_first = 1, is_on_page = 1, is_missing = 0, is_shared = 0; /* the last two of the last part */
    int has_elements = 1, is_other = 0;                                           /* the last one of the last part */
    const unsigned char *at = selector.begin;
    while (at < selector.end) {
        unsigned char c = *at, room[256], mark = depth ? 0 : mark_of(at, selector.end, is_first), *small;
        Span name;
        at += mark != ELEMENT;
        depth += (c == '(' || c == '[') - ((c == ')' || c == ']') && depth);
        is_first = !depth && (is_space(c) || c == '>' || c == '+' || c == '~');
        if (is_first) {
            is_missing = is_shared = is_other = 0;
        }
        if (mark && read_name(&at, selector.end, room, sizeof room, &name)) {
            int is_shared_name, is_named;
            if (mark == '[' && (sheet->is_lax || name.begin == name.end || *at == '|')) {
                continue;
            }
            for (small = room; small < name.end && mark != '.' && mark != '#'; small++) {
                *small = (unsigned char)lower_of(*small);
            }
            is_named = has_name(sheet->page, name, mark);
            is_shared_name = has_name(sheet->subjects, name, mark);
            if (mark == ELEMENT) {
                has_elements &= is_named;
                is_other |= !is_shared_name;
            }
            is_on_page &= is_named;
            is_missing |= !is_shared_name;
            is_shared |= is_shared_name && (mark == '.' || mark == '#');
        }
    }
    if (!has_elements || (of_subjects && is_other)) {
        return 0;
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

/* Whether the declarations of a block make it matter. */
static int matters(const Level *level)
{
    return level->halves & 16 || (level->halves & 3) == 3 || (level->halves & 12) == 12;
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
    if (level->is_skipped || last < 0 || sheet->rules == MAX_RULES || !matters(level)) {
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

/* Whether declarations may hide, those of a style attribute: what has comments, escapes or variables is not looked into. */
static int may_hide(Sheet *sheet, Span style)
{
    static const unsigned char var[] = "var";
    Level level = {0};
    const unsigned char *at;
    for (at = style.begin; at < style.end; at++) {
        if (*at == '\\' || (*at == '*' && at > style.begin && at[-1] == '/')
            || (*at == '(' && at - style.begin > 3 && begins((Span){at - 3, at}, (Span){var, var + 3}))) {
            return 1;
        }
    }
    while (style.begin < style.end) {
        const unsigned char *end = memchr(style.begin, ';', (size_t)(style.end - style.begin));
        end = end ? end : style.end;
        read_declaration(sheet, &level, (Span){style.begin, end});
        style.begin = end < style.end ? end + 1 : end;
    }
    sheet->found = 0;
    return matters(&level);
}

/* Note the names of elements on the page, and of subjects. */
static void add_elements(Names *names, const PageArrays *page, Span tag_names, Span others, const uint8_t *subjects)
{
    uint8_t has_tag[2][MAX_TAGS] = {{0}};
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        has_tag[0][page->tag[i] % MAX_TAGS] = 1;
        has_tag[1][page->tag[i] % MAX_TAGS] |= subjects[i];
    }
    for (i = 0; i < MAX_TAGS && tag_names.begin < tag_names.end; i++) {
        Span name = next_line(&tag_names);
        int which;
        for (which = 0; which < 2; which++) {
            if (has_tag[which][i]) {
                add_name(&names[which], name, ELEMENT);
            }
        }
    }
    while (others.begin < others.end) {
        Span name = next_line(&others);
        add_name(&names[0], name, ELEMENT);
        add_name(&names[1], name, ELEMENT);
    }
}

static int is_word(Span text, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(text.end - text.begin) == length && memcmp(text.begin, word, length) == 0;
}

/* Note the names of attributes, classes and ids, on the page and of subjects (bool by first attribute). */
static void add_attributes(Names *names, const AttributeValues *values, Attribute *attributes,
                           const uint8_t *is_of_subject, const uint8_t *properties)
{
    Py_ssize_t i;
    for (i = 0; i < values->d; i++) {
        Attribute *attribute = &attributes[values->name_of[i]];
        int which;
        for (which = 0; which <= is_of_subject[values->place[i]]; which++) {
            if (!attribute->is_noted[which]) {
                attribute->is_noted[which] = 1;
                add_name(&names[which], attribute->name, '[');
            }
            if (attribute->mark) {
                add_words(&names[which], value_of(values, i), attribute->mark, properties);
            }
        }
    }
}

/* Put the styles that may hide into a list, unless none of them is of a subject; 0, or -1 with an exception. */
static int put_styles(Sheet *sheet, const AttributeValues *values, const Attribute *attributes,
                      const uint8_t *is_of_subject, PyObject *styles)
{
    int is_any = 0;
    Py_ssize_t i;
    for (i = 0; i < values->d; i++) {
        if (attributes[values->name_of[i]].is_style && may_hide(sheet, value_of(values, i))) {
            SCOPED(release_object) PyObject *style = Py_BuildValue("iN", (int)values->place[i], decoded(value_of(values, i)));
            if (style == NULL || PyList_Append(styles, style) < 0) {
                return -1;
            }
            is_any |= is_of_subject[values->place[i]];
        }
    }
    return is_any ? 0 : PyList_SetSlice(styles, 0, PyList_Size(styles), NULL);
}

/* style_rules(page, values, attributes, tags, others, subjects: bool[n], css, wanted, is_lax, properties)
   -> rules: list of (order, str), styles: list of (place, str)

   The rules that set a property that is wanted on some elements, the subjects, in the order in which they end, without
   comments: the preludes of the blocks around the declarations, with a zero character behind each, and a character 1 behind
   each selector; then the declarations. Only selectors that may match are there. And the values of style attributes that set
   such a property, if one of them is of a subject, and none if it is lax. attributes, tags, others: names of attributes by number, of tags, and of elements
   without a tag, a line each. css: bytes of UTF-8. wanted: a property a line, a space, its half, and the first characters of
   the values that matter. is_lax: also of other states of the subjects, in which they have other classes. */
PyObject *core_style_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array subjects = {0}, properties = {0};
    SCOPED(free_memory) unsigned char *room = NULL, *is_of_subject = NULL;
    SCOPED(free_memory) Sheet *sheet = NULL;
    SCOPED(free_memory) Names *names = NULL;
    SCOPED(free_memory) Attribute *attributes = NULL;
    SCOPED(free_memory) char *text = NULL;
    SCOPED(release_object) PyObject *rules = PyList_New(0), *styles = PyList_New(0);
    Span css, wanted, attribute_names, tag_names, others;
    int is_lax, failed;
    Py_ssize_t i;
    int32_t k;
    if (rules == NULL || styles == NULL
        || !PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&O&pO&", in_page, &page, in_values, &values, in_text,
                             &attribute_names, in_text, &tag_names, in_text, &others, in_1, &subjects, in_bytes, &css,
                             in_text, &wanted, &is_lax, in_properties, &properties)
        || !check_arrays(values.places <= page.a && subjects.length == page.n)) {
        return NULL;
    }
    room = malloc((size_t)(css.end - css.begin) + 1);
    is_of_subject = calloc(1, (size_t)page.a + 1);
    sheet = calloc(1, sizeof *sheet);
    names = calloc(2, sizeof *names);
    attributes = calloc((size_t)values.names + 1, sizeof *attributes);
    if (room == NULL || is_of_subject == NULL || sheet == NULL || names == NULL || attributes == NULL) {
        return PyErr_NoMemory();
    }
    for (i = 0; i < values.names && attribute_names.begin < attribute_names.end; i++) {
        Span name = attributes[i].name = next_line(&attribute_names);
        attributes[i].mark = is_word(name, "class") ? '.' : is_word(name, "id") ? '#' : 0;
        attributes[i].is_style = !is_lax && is_word(name, "style");
    }
    for (i = 0; i < page.n; i++) {
        for (k = page.attribute_begin[i]; ITEMS(subjects, uint8_t)[i] && k < page.attribute_begin[i + 1]; k++) {
            is_of_subject[page.first[k]] = 1;
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
    sheet->page = &names[0];
    sheet->subjects = &names[1];
    sheet->is_lax = is_lax;
    sheet->list = rules;
    if (css.begin < css.end) {
        add_elements(names, &page, tag_names, others, ITEMS(subjects, uint8_t));
        add_attributes(names, &values, attributes, is_of_subject, ITEMS(properties, uint8_t));
    }
    failed = put_styles(sheet, &values, attributes, is_of_subject, styles) < 0 || read_rules(sheet, css, room) < 0;
    text = sheet->text.data;
    return failed ? NULL : Py_BuildValue("OO", rules, styles);
}
