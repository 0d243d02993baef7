/* The rules of a style sheet that may hide something, in one pass, for winnow.page.hidden. */
#include "core.h"

enum { MAX_RULES = 300 };

typedef struct {
    const char *name;
    size_t length;
    const char *starts; /* first characters of a value that may hide */
} Property;

#define PROPERTY(name, starts) {name, sizeof name - 1, starts}
static const Property properties[] = {
    PROPERTY("display", "n"),      PROPERTY("visibility", "hc"), PROPERTY("font-size", "01."),
    PROPERTY("text-indent", "-"),  PROPERTY("opacity", "0."),    PROPERTY("clip", "r"),
    PROPERTY("clip-path", "ic"),   PROPERTY("position", "af"),   PROPERTY("height", "01"),
    PROPERTY("width", "01"),       PROPERTY("max-height", "0"),  PROPERTY("max-width", "0"),
    PROPERTY("color", "#wt"),      PROPERTY("transform", "s"),
};
#undef PROPERTY

/* Characters with a meaning in a sheet: braces, colons, semicolons and quotes. */
static const unsigned char marks[256] = {['{'] = 1, ['}'] = 1, [':'] = 1, [';'] = 1, ['"'] = 1, ['\''] = 1};

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

/* Whether a declaration may hide something, by its property before the colon and its value behind it. */
static int may_hide(const char *begin, const char *colon, const char *end)
{
    const char *value = colon + 1;
    size_t k, length;
    int first;
    while (begin < colon && is_space((unsigned char)*begin)) {
        begin++;
    }
    while (colon > begin && is_space((unsigned char)colon[-1])) {
        colon--;
    }
    while (value < end && is_space((unsigned char)*value)) {
        value++;
    }
    if (value >= end) {
        return 0;
    }
    length = (size_t)(colon - begin);
    first = lower_of((unsigned char)*value);
    for (k = 0; k < sizeof properties / sizeof *properties; k++) {
        if (properties[k].length == length && first && strchr(properties[k].starts, first)
            && begins(begin, colon, properties[k].name)) {
            int next = value + 1 < end ? lower_of((unsigned char)value[1]) : 0;
            return !((first == '#' && next != 'f') || (first == '1' && next >= '0' && next <= '9'));
        }
    }
    return 0;
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

static int append_rule(PyObject *rules, const char *begin, const char *brace, const char *end)
{
    PyObject *rule = Py_BuildValue("NN", PyUnicode_DecodeUTF8(begin, brace - begin, "replace"),
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

/* hiding_rules(css: bytes of UTF-8) -> the sheet without comments, and a list of selectors and declarations, of the rules
   for every screen that may hide. Strings are skipped, and so are rules within a rule. */
PyObject *core_hiding_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(free_memory) char *sheet = NULL;
    const char *css;
    char *at, *end;
    const char *statement, *rule = NULL, *brace = NULL;
    Py_ssize_t length;
    int level = 0, skipped = 0, hides = 0; /* skipped: level of the block that is left out, 0 for none */
    PyObject *rules;
    if (!PyArg_ParseTuple(arguments, "y#", &css, &length)) {
        return NULL;
    }
    if ((sheet = malloc((size_t)length + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    if ((rules = PyList_New(0)) == NULL) {
        return NULL;
    }
    end = strip_comments(sheet, css, css + length);
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
        case ':':
            hides |= rule != NULL && !skipped && may_hide(statement, at, end);
            break;
        case ';':
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
                hides = 0;
            }
            else if (!skipped && (rule != NULL || !is_for_screens(statement, at))) {
                skipped = level;
            }
            statement = at + 1;
            break;
        case '}':
            if (!skipped && rule != NULL) {
                if (hides && append_rule(rules, rule, brace, at) < 0) {
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
