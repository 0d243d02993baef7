/* The rules of a style sheet that may hide something, in one pass, for winnow.page.hidden. */
#include "core.h"

enum { MAX_RULES = 300 };

/* What a declaration adds to hiding: all of it, or one half of two. */
enum { HIDES = 1, IS_PLACED = 2, IS_FAR = 4, IS_TINY = 8, IS_CLIPPED = 16 };

typedef struct {
    const char *name;
    size_t length;
    const char *starts; /* first characters of a value that may hide */
    int adds;
} Property;

#define PROPERTY(name, starts, adds) {name, sizeof name - 1, starts, adds}
static const Property properties[] = {
    PROPERTY("display", "n", HIDES),        PROPERTY("visibility", "hc", HIDES),   PROPERTY("font-size", "01.", HIDES),
    PROPERTY("text-indent", "-", HIDES),    PROPERTY("opacity", "0.", HIDES),      PROPERTY("clip", "r", HIDES),
    PROPERTY("clip-path", "ic", HIDES),     PROPERTY("color", "#wt", HIDES),       PROPERTY("transform", "s", HIDES),
    PROPERTY("position", "af", IS_PLACED),  PROPERTY("left", "-", IS_FAR),         PROPERTY("right", "-", IS_FAR),
    PROPERTY("top", "-", IS_FAR),           PROPERTY("bottom", "-", IS_FAR),       PROPERTY("height", "01", IS_TINY),
    PROPERTY("width", "01", IS_TINY),       PROPERTY("max-height", "0", IS_TINY),  PROPERTY("max-width", "0", IS_TINY),
    PROPERTY("overflow", "hc", IS_CLIPPED), PROPERTY("overflow-y", "hc", IS_CLIPPED),
};
#undef PROPERTY

/* Characters with a meaning in a sheet: braces, semicolons and quotes. */
static const unsigned char marks[256] = {['{'] = 1, ['}'] = 1, [';'] = 1, ['"'] = 1, ['\''] = 1};

/* Whether a text begins with a word; ignores case. */
static int begins(const char *at, const char *end, const char *word)
{
    for (; *word; word++, at++) {
        if (at >= end || lower_of((unsigned char)*at) != *word) {
            return 0;
        }
    }
    return 1;
}

/* What a declaration may add to hiding something. */
static int read_declaration(const char *begin, const char *end)
{
    const char *colon, *value;
    size_t k, length;
    int first, next;
    while (begin < end && is_space((unsigned char)*begin)) {
        begin++;
    }
    for (colon = begin; colon < end && *colon != ':'; colon++) {
    }
    for (value = colon + 1; value < end && is_space((unsigned char)*value); value++) {
    }
    if (value >= end) {
        return 0;
    }
    while (colon > begin && is_space((unsigned char)colon[-1])) {
        colon--;
    }
    length = (size_t)(colon - begin);
    first = lower_of((unsigned char)*value);
    next = value + 1 < end ? lower_of((unsigned char)value[1]) : 0;
    if ((first == '#' && next != 'f') || (first == '1' && next != 'p') || (first == '-' && !is_digit(next))) {
        return 0;
    }
    for (k = 0; k < sizeof properties / sizeof *properties; k++) {
        if (properties[k].length == length && begins(begin, colon, properties[k].name)) {
            return first && strchr(properties[k].starts, first) ? properties[k].adds : 0;
        }
    }
    return 0;
}

/* Whether the declarations of a rule may hide something, by what they add. */
static int hides(int found)
{
    return (found & HIDES) || (found & (IS_PLACED | IS_FAR)) == (IS_PLACED | IS_FAR)
           || (found & (IS_TINY | IS_CLIPPED)) == (IS_TINY | IS_CLIPPED);
}

/* Whether the rules of a block hold for every screen, by the text before its brace. */
static int is_for_screens(const char *at, const char *end)
{
    if (begins(at, end, "@layer") || begins(at, end, "@supports")) {
        return 1;
    }
    if (!begins(at, end, "@media")) {
        return 0;
    }
    for (at += 6; at < end && is_space((unsigned char)*at); at++) {
    }
    while (end > at && is_space((unsigned char)end[-1])) {
        end--;
    }
    return (end - at == 6 && begins(at, end, "screen")) || (end - at == 3 && begins(at, end, "all"));
}

static int is_name(int c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80;
}

/* The classes and ids in some selectors, with their mark; NULL with an exception set. */
static PyObject *list_names(const char *at, const char *end)
{
    PyObject *names = PyList_New(0);
    while (at < end && names != NULL) {
        const char *begin = at++;
        PyObject *name;
        if (*begin != '.' && *begin != '#') {
            continue;
        }
        while (at < end && is_name((unsigned char)*at)) {
            at++;
        }
        name = at > begin + 1 ? PyUnicode_DecodeUTF8(begin, at - begin, "replace") : NULL;
        if (at > begin + 1 && (name == NULL || PyList_Append(names, name) < 0)) {
            Py_CLEAR(names);
        }
        Py_XDECREF(name);
    }
    return names;
}

static int append_rule(PyObject *rules, const char *begin, const char *brace, const char *end)
{
    PyObject *rule = Py_BuildValue("NNN", PyUnicode_DecodeUTF8(begin, brace - begin, "replace"), list_names(begin, brace),
                                   PyUnicode_DecodeUTF8(brace + 1, end - brace - 1, "replace"));
    int failed = rule == NULL || PyList_Append(rules, rule) < 0;
    Py_XDECREF(rule);
    return failed ? -1 : 0;
}

/* Where two characters follow each other; the end if nowhere. */
static const char *find_pair(const char *at, const char *end, char first, char second)
{
    while (at < end && (at = memchr(at, first, (size_t)(end - at))) != NULL) {
        if (++at < end && *at == second) {
            return at - 1;
        }
    }
    return end;
}

/* Copy a sheet without its comments; returns the end of the copy. */
static char *strip_comments(char *to, const char *at, const char *end)
{
    while (at < end) {
        const char *comment = find_pair(at, end, '/', '*');
        memcpy(to, at, (size_t)(comment - at));
        to += comment - at;
        at = comment < end ? find_pair(comment + 2, end, '*', '/') : end;
        at += at < end ? 2 : 0;
    }
    return to;
}

/* hiding_rules(css: bytes of UTF-8) -> the sheet without comments, and a list of selectors, the names in them and
   declarations, of the rules for every screen that may hide. Strings are skipped, and so are rules within a rule. */
PyObject *core_hiding_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(free_memory) char *sheet = NULL;
    char *at, *end;
    const char *statement, *rule = NULL, *brace = NULL;
    Span css;
    int level = 0, skipped = 0, found = 0; /* skipped: level of the block that is left out, 0 for none */
    PyObject *rules;
    if (!PyArg_ParseTuple(arguments, "O&", in_bytes, &css)) {
        return NULL;
    }
    if ((sheet = malloc((size_t)(css.end - css.begin) + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    if ((rules = PyList_New(0)) == NULL) {
        return NULL;
    }
    end = strip_comments(sheet, (const char *)css.begin, (const char *)css.end);
    for (at = sheet, statement = sheet; at < end && PyList_Size(rules) < MAX_RULES; at++) {
        const char *quote;
        while (at < end && !marks[(unsigned char)*at]) {
            at++;
        }
        quote = at;
        switch (at < end ? *at : 0) {
        case '"':
        case '\'':
            while (++at < end && *at != *quote && *at != '\n') {
                at += *at == '\\';
            }
            break;
        case ';':
            found |= rule != NULL && !skipped ? read_declaration(statement, at) : 0;
            statement = at + 1;
            break;
        case '{':
            while (statement < at && is_space((unsigned char)*statement)) {
                statement++;
            }
            level++;
            if (!skipped && rule == NULL && *statement != '@') {
                rule = statement;
                brace = at;
                found = 0;
            }
            else if (!skipped && (rule != NULL || !is_for_screens(statement, at))) {
                skipped = level;
            }
            statement = at + 1;
            break;
        case '}':
            if (!skipped && rule != NULL) {
                if (hides(found | read_declaration(statement, at)) && append_rule(rules, rule, brace, at) < 0) {
                    Py_DECREF(rules);
                    return NULL;
                }
                rule = NULL;
            }
            skipped = level == skipped ? 0 : skipped;
            level -= level > 0;
            statement = at + 1;
            break;
        default:
            break;
        }
    }
    return Py_BuildValue("NN", PyUnicode_DecodeUTF8(sheet, end - sheet, "replace"), rules);
}
