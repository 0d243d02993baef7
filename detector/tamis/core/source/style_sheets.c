/* The rules of a style sheet that may hide text of a page, for tamis.page.hidden. */
#include "fingerprints.h"

enum { MAX_SELECTORS = 200, NAME_BITS = 1 << 16 };

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

static Span without_spaces(const unsigned char *begin, const unsigned char *end)
{
    while (begin < end && is_space(*begin)) {
        begin++;
    }
    while (begin < end && is_space(end[-1])) {
        end--;
    }
    return (Span){begin, end};
}

/* Whether a text begins with a word; ignores case. */
static int begins(Span text, const char *word)
{
    for (; *word && text.begin < text.end && lower_of(*text.begin) == *word; word++, text.begin++) {
    }
    return !*word;
}

/* What a declaration may add to hiding something. */
static int read_declaration(Span text)
{
    const unsigned char *colon = memchr(text.begin, ':', (size_t)(text.end - text.begin));
    Span name = without_spaces(text.begin, colon ? colon : text.end), value = {name.end, name.end};
    size_t k;
    int first, next;
    if (colon != NULL) {
        value = without_spaces(colon + 1, text.end);
    }
    first = value.begin < value.end ? lower_of(*value.begin) : 0;
    next = value.end - value.begin > 1 ? lower_of(value.begin[1]) : 0;
    if (!first || (first == '#' && next != 'f') || (first == '1' && next != 'p') || (first == '-' && !is_digit(next))) {
        return 0;
    }
    for (k = 0; k < sizeof properties / sizeof *properties; k++) {
        if (properties[k].length == (size_t)(name.end - name.begin) && begins(name, properties[k].name)) {
            return strchr(properties[k].starts, first) ? properties[k].adds : 0;
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
static int is_for_screens(Span text)
{
    Span media;
    if (!begins(text, "@media")) {
        return begins(text, "@layer") || begins(text, "@supports");
    }
    media = without_spaces(text.begin + 6, text.end);
    return (media.end - media.begin == 6 && begins(media, "screen"))
           || (media.end - media.begin == 3 && begins(media, "all"));
}

/* Where two characters follow each other; the end if nowhere. */
static const unsigned char *find_pair(const unsigned char *at, const unsigned char *end, int first, int second)
{
    while (at < end && (at = memchr(at, first, (size_t)(end - at))) != NULL) {
        if (++at < end && *at == second) {
            return at - 1;
        }
    }
    return end;
}

/* Copy a sheet without its comments; returns where the copy ends, by a zero byte. */
static unsigned char *strip_comments(unsigned char *to, const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        const unsigned char *comment = find_pair(at, end, '/', '*');
        memcpy(to, at, (size_t)(comment - at));
        to += comment - at;
        at = comment < end ? find_pair(comment + 2, end, '*', '/') : end;
        at += at < end ? 2 : 0;
    }
    *to = 0;
    return to;
}

/* A page's classes and ids: a bit of each, by a hash. */
typedef struct {
    uint64_t bits[NAME_BITS / 64];
} Names;

static int is_of_name(int c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c >= 0x80;
}

static uint64_t hash_of_name(Span name, unsigned char mark)
{
    return hash_of(name, mark) % NAME_BITS;
}

static void add_names(Names *names, Span value, unsigned char mark, const uint8_t *properties)
{
    Span word;
    while (word = next_word(&value, properties), word.begin < word.end) {
        uint64_t bit = hash_of_name(word, mark);
        names->bits[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

/* Whether all classes and ids of a selector may be on the page. */
static int are_known(const Names *names, Span selector)
{
    while (selector.begin < selector.end) {
        unsigned char mark = *selector.begin++;
        Span name = {selector.begin, selector.begin};
        uint64_t bit;
        if (mark != '.' && mark != '#') {
            continue;
        }
        while (name.end < selector.end && is_of_name(*name.end)) {
            name.end++;
        }
        bit = hash_of_name(name, mark);
        if (!(names->bits[bit / 64] >> bit % 64 & 1)) {
            return 0;
        }
        selector.begin = name.end;
    }
    return 1;
}

/* Append the selectors of a rule whose names are known to a list, each with the declarations, as long as there are not too
   many; 0, or -1 with an exception. */
static int append_rule(PyObject *list, const Names *names, Span selectors, Span style)
{
    while (selectors.begin < selectors.end && PyList_Size(list) < MAX_SELECTORS) {
        const unsigned char *comma = memchr(selectors.begin, ',', (size_t)(selectors.end - selectors.begin));
        Span selector = {selectors.begin, comma ? comma : selectors.end};
        selectors.begin = comma ? comma + 1 : selectors.end;
        if (are_known(names, selector)) {
            PyObject *pair = Py_BuildValue("NN", decoded(selector), decoded(style));
            int failed = pair == NULL || PyList_Append(list, pair) < 0;
            Py_XDECREF(pair);
            if (failed) {
                return -1;
            }
        }
    }
    return 0;
}

/* Skip a string, or what begins like one; returns where it ends, which may be where the text ends. */
static const unsigned char *skip_string(const unsigned char *at)
{
    unsigned char quote = *at++;
    while (*at && *at != quote && *at != '\n') {
        at += *at == '\\' && at[1] ? 2 : 1;
    }
    return at;
}

/* Append the selectors of rules for every screen that may hide something on a page with some names, each with its
   declarations; strings and rules within a rule are left out. 0, or -1 with an exception. */
static int read_rules(const unsigned char *css, const Names *names, PyObject *list)
{
    int level = 0, skipped = 0, in_rule = 0, found = 0; /* skipped: level of the block that is, or 0 */
    const unsigned char *at, *begin; /* of a statement */
    Span selectors = {NULL, NULL};
    for (at = begin = css; *(at += strcspn((const char *)at, "{};\"'")); at += *at != '\0') {
        Span statement = without_spaces(begin, at);
        if (*at == '"' || *at == '\'') {
            at = skip_string(at);
            continue;
        }
        begin = at + 1;
        if (*at == '{') {
            int is_block = statement.begin < statement.end && *statement.begin == '@';
            level++;
            if (!skipped && (in_rule || (is_block && !is_for_screens(statement)))) {
                skipped = level;
            }
            else if (!skipped && !is_block) {
                selectors = (Span){statement.begin, at};
                in_rule = 1;
                found = 0;
            }
            continue;
        }
        found |= in_rule && !skipped ? read_declaration(statement) : 0;
        if (*at == '}') {
            if (in_rule && !skipped && hides(found)
                && append_rule(list, names, selectors, (Span){selectors.end + 1, at}) < 0) {
                return -1;
            }
            in_rule = in_rule && skipped;
            skipped = level == skipped ? 0 : skipped;
            level -= level > 0;
        }
    }
    return 0;
}

/* Set true for the elements that hold text of some blocks, and for their attributes, each at the first that is equal. */
static void find_holders(const PageArrays *page, const uint8_t *blocks, const uint8_t *has_ink, uint8_t *holding,
                         uint8_t *present)
{
    Py_ssize_t i;
    int32_t k;
    for (i = 0; i < page->m; i++) {
        for (k = page->block_run_begin[i]; blocks[i] && k < page->block_run_end[i]; k++) {
            int32_t element = has_ink[k] ? page->run_node[k] : -1;
            for (; element >= 0 && !holding[element]; element = page->parent[element]) {
                holding[element] = 1;
            }
        }
    }
    for (i = 0; i < page->n; i++) {
        for (k = page->attribute_begin[i]; holding[i] && k < page->attribute_begin[i + 1]; k++) {
            present[page->first[k]] = 1;
        }
    }
}

/* hiding_rules(page, values, blocks: bool[m], has_ink: bool[r], css: bytes of UTF-8, class, id, properties,
                holding: bool[n], present: bool[a]) -> list of selectors and declarations, and the css without comments

   Sets true, in zeros, for the elements that hold text of some blocks, and for their attributes, by first attribute. Lists
   the rules that may hide something for every screen, a selector each, whose classes and ids are among these attributes.
   class, id: numbers of the names, -1 for none. */
PyObject *core_hiding_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PageArrays page;
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array blocks = {0}, has_ink = {0}, properties = {0}, holding = {0}, present = {0};
    SCOPED(free_memory) unsigned char *sheet = NULL;
    unsigned char *end;
    Names names = {0};
    Span css;
    int class, id;
    Py_ssize_t i;
    PyObject *list;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&iiO&O&O&", in_page, &page, in_values, &values, in_1, &blocks, in_1, &has_ink,
                          in_bytes, &css, &class, &id, in_properties, &properties, out_1, &holding, out_1, &present)
        || !check_arrays(values.places <= page.a && blocks.length == page.m && has_ink.length == page.r
                         && holding.length == page.n && present.length == page.a)) {
        return NULL;
    }
    if ((sheet = malloc((size_t)(css.end - css.begin) + 1)) == NULL) {
        return PyErr_NoMemory();
    }
    find_holders(&page, ITEMS(blocks, uint8_t), ITEMS(has_ink, uint8_t), ITEMS(holding, uint8_t), ITEMS(present, uint8_t));
    for (i = 0; css.begin < css.end && i < values.d; i++) {
        int32_t name = values.name_of[i];
        if ((name == class || name == id) && ITEMS(present, uint8_t)[values.place[i]]) {
            add_names(&names, value_of(&values, i), name == class ? '.' : '#', ITEMS(properties, uint8_t));
        }
    }
    end = strip_comments(sheet, css.begin, css.end);
    list = PyList_New(0);
    if (list != NULL && read_rules(sheet, &names, list) < 0) {
        Py_CLEAR(list);
    }
    return list ? Py_BuildValue("NN", list, PyBytes_FromStringAndSize((char *)sheet, end - sheet)) : NULL;
}
