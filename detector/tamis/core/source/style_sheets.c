/* The rules of a style sheet that may say something of a page, for tamis.page.cascade. */
#include "style_names.h"

enum { MAX_RULES = 1000, MAX_LEVELS = 16, MAX_PROPERTIES = 64, MAX_DECLARATIONS = 1000 };

/* A property that is looked for, and the first characters of the values that matter, none for all. It makes a rule
   matter by itself, 0, or together with another one: 1 with 2, 4 with 8. */
typedef struct {
    Span name, starts;
    int half;
} Property;

static void release_object(PyObject **object)
{
    Py_XDECREF(*object);
}

typedef struct {
    Span prelude;
    Py_ssize_t order, first; /* of its rule; of its declarations */
    int is_style, is_skipped, halves; /* 16 for what matters by itself */
} Level;

/* A rule that was found: its number, and where its text begins. */
typedef struct {
    Py_ssize_t order;
    size_t begin;
} Rule;

typedef struct {
    StyleNames names;
    Property properties[MAX_PROPERTIES];
    uint64_t by_name[32][32]; /* bits of the properties by the last five bits of their first character and of their length */
    Py_ssize_t count, rules, found;
    Span declarations[MAX_DECLARATIONS];
    Level levels[MAX_LEVELS];
    Bytes text; /* of the rules */
    Rule rule[MAX_RULES];
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

/* Append a text and a character to those of the rules; 0, or -1 without memory. */
static int put(Sheet *sheet, Span text, char behind)
{
    size_t length = (size_t)(text.end - text.begin);
    if (reserve(&sheet->text.data, &sheet->text.capacity, sheet->text.used + length + 1) < 0) {
        return -1;
    }
    if (length) {
        memcpy(sheet->text.data + sheet->text.used, text.begin, length);
    }
    sheet->text.used += length;
    sheet->text.data[sheet->text.used++] = behind;
    return 0;
}

/* Append the selectors of a list that may match, each with a character 1 behind. 1, 0 if there are none, or -1 without memory. */
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
            if (selector.begin < selector.end && style_names_may_match(&sheet->names, selector, of_subjects)
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

/* Append a rule if it matters; 0, or -1 without memory. */
static int end_rule(Sheet *sheet, int depth)
{
    Level *level = &sheet->levels[depth];
    size_t begun = sheet->text.used;
    Py_ssize_t k, last = -1;
    for (k = 0; k <= depth; k++) {
        last = sheet->levels[k].is_style ? k : last;
    }
    if (level->is_skipped || last < 0 || sheet->rules == MAX_RULES || !matters(level)) {
        return 0;
    }
    for (k = 0; k <= depth; k++) {
        int put_any = sheet->levels[k].is_style ? put_selectors(sheet, sheet->levels[k].prelude, k == last) : 1;
        if (put_any <= 0) {
            sheet->text.used = begun;
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
    sheet->rule[sheet->rules++] = (Rule){level->order, begun};
    return 0;
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

static uint64_t *bits_of(Sheet *sheet, Span name)
{
    return &sheet->by_name[*name.begin & 31][(name.end - name.begin) & 31];
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
    for (bits = name.begin < name.end ? *bits_of(sheet, name) : 0; bits; bits &= bits - 1) {
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

/* Read a sheet; what has comments is copied without them, into as much room. 0, or -1 without memory. */
static int read_rules(Sheet *sheet, Span css, unsigned char *to)
{
    static const char marks[] = "{};\"'/\\()[]";
    unsigned char is_mark[256] = {0}, *copied = to;  /* of a statement, behind a comment */
    const unsigned char *at = css.begin, *begin = at; /* of a statement, or behind its last comment */
    int depth = -1, skipped = 0, brackets = 0;        /* skipped: blocks below the deepest level */
    Py_ssize_t order = 0;
    size_t k;
    for (k = 0; k + 1 < sizeof marks; k++) {
        is_mark[(unsigned char)marks[k]] = 1;
    }
    while (at < css.end || depth >= 0) {
        int c = '}'; /* blocks end where the sheet does */
        Span statement;
        while (at < css.end && !is_mark[*at]) {
            at++;
        }
        c = at < css.end ? *at : c;
        if (c == '"' || c == '\'') {
            at = skip(at, css.end);
            continue;
        }
        if (c == '/' && at + 1 < css.end && at[1] == '*') {
            memcpy(to, begin, (size_t)(at - begin));
            to += at - begin;
            begin = at = skip(at, css.end);
            continue;
        }
        brackets = at == css.end ? 0 : brackets + (c == '(' || c == '[') - ((c == ')' || c == ']') && brackets);
        if ((c != '{' && c != '}' && c != ';') || brackets) {
            at += c == '\\' && at + 1 < css.end ? 2 : 1;
            continue;
        }
        statement = (Span){begin, at};
        if (to > copied) {
            memcpy(to, begin, (size_t)(at - begin));
            to += at - begin;
            statement = (Span){copied, to};
        }
        if (c != '{' && depth >= 0 && !skipped && !sheet->levels[depth].is_skipped) {
            read_declaration(sheet, &sheet->levels[depth], statement);
        }
        if (c == '{') {
            Span prelude = without_comment_marks(statement);
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
        begin = at;
        copied = to;
    }
    return 0;
}

/* A list of the rules that were found: (order, str). NULL with an exception. */
static PyObject *list_rules(const Sheet *sheet)
{
    PyObject *list = PyList_New(0);
    Py_ssize_t k;
    for (k = 0; k < sheet->rules && list != NULL; k++) {
        size_t begin = sheet->rule[k].begin, end = k + 1 < sheet->rules ? sheet->rule[k + 1].begin : sheet->text.used;
        PyObject *text = PyUnicode_DecodeUTF8(sheet->text.data + begin, (Py_ssize_t)(end - begin), "replace");
        SCOPED(release_object) PyObject *rule = text ? Py_BuildValue("nN", sheet->rule[k].order, text) : NULL;
        if (rule == NULL || PyList_Append(list, rule) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
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

/* Put the styles that may hide into a list, unless none of them is of a subject; 0, or -1 with an exception. */
static int put_styles(Sheet *sheet, PyObject *styles)
{
    const StyleNames *names = &sheet->names;
    int is_any = 0;
    Py_ssize_t i;
    for (i = 0; i < names->page.values.d && !names->is_lax; i++) {
        Span value = value_of(&names->page.values, i);
        if (is_word(names->attributes[names->page.values.name_of[i]].name, "style") && may_hide(sheet, value)) {
            SCOPED(release_object) PyObject *style = Py_BuildValue("iN", (int)names->page.values.first_index[i], decoded(value));
            if (style == NULL || PyList_Append(styles, style) < 0) {
                return -1;
            }
            is_any |= names->is_of_subject[names->page.values.first_index[i]];
        }
    }
    return is_any ? 0 : PyList_SetSlice(styles, 0, PyList_Size(styles), NULL);
}

/* Read the properties that are wanted. */
static void read_wanted(Sheet *sheet, Span lines)
{
    while (lines.begin < lines.end && sheet->count < MAX_PROPERTIES) {
        Span line = next_line(&lines);
        const unsigned char *space = memchr(line.begin, ' ', (size_t)(line.end - line.begin));
        if (space != NULL && space + 2 < line.end + 1) {
            *bits_of(sheet, (Span){line.begin, space}) |= (uint64_t)1 << sheet->count;
            sheet->properties[sheet->count++] = (Property){{line.begin, space}, {space + 2, line.end}, space[1] - '0'};
        }
    }
}

static void release(Sheet **sheet)
{
    if (*sheet != NULL) {
        style_names_release(&(*sheet)->names);
        free((*sheet)->text.data);
        free(*sheet);
    }
}

/* style_rules(page, attributes, tags, others, subjects: bool[n], css, wanted, is_lax)
   -> rules: list of (order, str), styles: list of (place, str)

   The rules that set a property that is wanted on some elements, the subjects, in the order in which they end, without
   comments: the preludes of the blocks around the declarations, with a zero character behind each, and a character 1 behind
   each selector; then the declarations. Only selectors that may match are there. And the values of style attributes that set
   such a property, if one of them is of a subject, and none if it is lax. attributes, tags, others: names of attributes by
   number, of tags, and of elements without a tag, a line each. css: bytes of UTF-8. wanted: a property a line, a space, its
   half, and the first characters of the values that matter. is_lax: also of other states of the subjects, in which they have
   other classes. */
PyObject *core_style_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array subjects = {0};
    SCOPED(release) Sheet *sheet = calloc(1, sizeof *sheet);
    StyleNames *names = sheet ? &sheet->names : NULL;
    SCOPED(free_memory) unsigned char *room = NULL;
    SCOPED(release_object) PyObject *rules = NULL, *styles = PyList_New(0);
    Span css, wanted, attributes;
    int failed;
    if (sheet == NULL || styles == NULL) {
        return PyErr_NoMemory();
    }
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&O&p", in_page, &names->page, in_text,
                          &attributes, in_text, &names->tag_names, in_text, &names->others, in_1, &subjects, in_bytes, &css,
                          in_text, &wanted, &names->is_lax)
        || !check_arrays(subjects.length == names->page.n)) {
        return NULL;
    }
    names->subjects = ITEMS(subjects, uint8_t);
    room = malloc((size_t)(css.end - css.begin) + 1);
    Py_BEGIN_ALLOW_THREADS
    read_wanted(sheet, wanted);
    failed = room == NULL || style_names_read(names, attributes) < 0 || read_rules(sheet, css, room) < 0;
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_NoMemory();
    }
    rules = list_rules(sheet);
    failed = rules == NULL || put_styles(sheet, styles) < 0;
    return failed ? NULL : Py_BuildValue("OO", rules, styles);
}
