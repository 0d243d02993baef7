/* The rules of a style sheet that may hide something, and the elements that they are for, for winnow.page.hidden. */
#include "fingerprints.h"

enum { MAX_RULES = 300, MAX_SELECTORS = 200, MAX_PARTS = 4, MAX_NAMES = 31 }; /* selectors that are matched; names of one */
#define IS_HIDDEN ((uint32_t)1 << MAX_NAMES) /* bit of an element with the attribute, behind those of the names */

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

typedef struct {
    Span selectors, style;
} Rule;

/* Find the rules for every screen that may hide something, in a sheet without comments; returns how many. Strings are skipped,
   and so are rules within a rule. */
static int read_rules(const char *at, const char *end, Rule *rules)
{
    const char *statement = at, *rule = NULL, *brace = NULL;
    int level = 0, skipped = 0, found = 0, count = 0; /* skipped: level of the block that is left out, 0 for none */
    for (; at < end && count < MAX_RULES; at++) {
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
                if (hides(found | read_declaration(statement, at))) {
                    rules[count++] = (Rule){{(const unsigned char *)rule, (const unsigned char *)brace},
                                            {(const unsigned char *)brace + 1, (const unsigned char *)at}};
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
    return count;
}

/* A class or an id of an element with text; hashes of 64 bits with a secret seed stand for them. */
typedef struct {
    uint64_t hash;
    int32_t place, next; /* of the attribute; the next one in the slot, -1 for none */
} Word;

/* A selector of simple parts: the tag of each, -1 for any, and bits of its names; the hashes of all names. */
typedef struct {
    int32_t tag[MAX_PARTS];
    uint32_t bits[MAX_PARTS];
    uint64_t names[MAX_NAMES];
    int parts, name_count;
} Selector;

typedef struct {
    PageArrays page;
    Word *words;
    int32_t *slots, *found; /* first word in each, -1 for none; elements that a selector chooses */
    uint32_t *bits;         /* of the names of a selector that an attribute has, by its place */
    uint8_t *begun;         /* parts of a selector that an element and those around it fit, one after the other */
    size_t word_count, word_bytes, last_slot;
    uint64_t seed;
    Span tag_names; /* one a line */
} Matching;

static void release(Matching *matching)
{
    page_release(&matching->page);
    free(matching->words);
    free(matching->slots);
    free(matching->found);
    free(matching->bits);
    free(matching->begun);
}

/* The first word of a slot from this one on with a hash; -1 for none. */
static int32_t find_word(const Matching *matching, int32_t word, uint64_t hash)
{
    while (word >= 0 && matching->words[word].hash != hash) {
        word = matching->words[word].next;
    }
    return word;
}

/* List the words of the attributes that are present with one of two names, and mark those with a third; 0, or -1 without
   memory. */
static int list_words(Matching *matching, const AttributeValues *values, const int *names, const uint8_t *present,
                      const uint8_t *properties)
{
    Py_ssize_t i;
    size_t k;
    for (i = 0; i < values->d; i++) {
        int32_t name = values->name_of[i], place = values->place[i];
        Span value = value_of(values, i), word;
        matching->bits[place] = name == names[2] ? IS_HIDDEN : 0;
        while (present[place] && (name == names[0] || name == names[1])
               && (word = next_word(&value, properties), word.begin < word.end)) {
            size_t wanted = sizeof(Word) * (matching->word_count + 1);
            if (wanted > matching->word_bytes && reserve(&matching->words, &matching->word_bytes, wanted) < 0) {
                return -1;
            }
            matching->words[matching->word_count++]
                = (Word){hash_of(word, matching->seed + (name == names[0] ? '.' : '#')), place, -1};
        }
    }
    matching->last_slot = slots_for(matching->word_count) - 1;
    if ((matching->slots = malloc(sizeof *matching->slots * (matching->last_slot + 1))) == NULL) {
        return -1;
    }
    memset(matching->slots, -1, sizeof *matching->slots * (matching->last_slot + 1));
    for (k = 0; k < matching->word_count; k++) {
        int32_t *slot = &matching->slots[matching->words[k].hash & matching->last_slot];
        matching->words[k].next = *slot;
        *slot = (int32_t)k;
    }
    return 0;
}

/* Read the name at the begin of a text, which goes on behind it. */
static Span read_name(Span *text)
{
    Span name = {text->begin, text->begin};
    while (name.end < text->end && is_name(*name.end)) {
        name.end++;
    }
    text->begin = name.end;
    return name;
}

static int32_t tag_of(Span names, Span name)
{
    int32_t tag;
    for (tag = 0; names.begin < names.end; tag++) {
        Span line = next_line(&names);
        Py_ssize_t length = line.end - line.begin, i = 0;
        while (i < length && i < name.end - name.begin && lower_of(name.begin[i]) == line.begin[i]) {
            i++;
        }
        if (i == length && i == name.end - name.begin) {
            return tag;
        }
    }
    return -1;
}

/* Read a selector of simple parts; 0 where it is another, or no element with text has its names. A child is taken for any
   descendant. */
static int read_selector(const Matching *matching, Span text, Selector *selector)
{
    selector->parts = selector->name_count = 0;
    while (text.begin < text.end) {
        int part = selector->parts;
        if (is_space(*text.begin) || *text.begin == '>') {
            text.begin++;
            continue;
        }
        if (selector->parts++ == MAX_PARTS) {
            return 0;
        }
        selector->tag[part] = -1;
        selector->bits[part] = 0;
        if (is_letter(*text.begin) && (selector->tag[part] = tag_of(matching->tag_names, read_name(&text))) < 0) {
            return 0;
        }
        while (text.begin < text.end && (*text.begin == '.' || *text.begin == '#')) {
            uint64_t seed = matching->seed + *text.begin++, hash = hash_of(read_name(&text), seed);
            if (selector->name_count == MAX_NAMES || find_word(matching, matching->slots[hash & matching->last_slot], hash) < 0) {
                return 0;
            }
            selector->bits[part] |= (uint32_t)1 << selector->name_count;
            selector->names[selector->name_count++] = hash;
        }
        if (text.end - text.begin >= 8 && !memcmp(text.begin, "[hidden]", 8)) {
            selector->bits[part] |= IS_HIDDEN;
            text.begin += 8;
        }
        if (text.begin < text.end && !is_space(*text.begin) && *text.begin != '>') {
            return 0;
        }
    }
    return selector->parts > 0;
}

/* Set or clear the bits of a selector's names. */
static void mark_names(Matching *matching, const Selector *selector, int set)
{
    int k;
    for (k = 0; k < selector->name_count; k++) {
        int32_t word = matching->slots[selector->names[k] & matching->last_slot];
        while ((word = find_word(matching, word, selector->names[k])) >= 0) {
            uint32_t *bits = &matching->bits[matching->words[word].place], bit = (uint32_t)1 << k;
            *bits = set ? *bits | bit : *bits & ~bit;
            word = matching->words[word].next;
        }
    }
}

/* Find the elements that a selector chooses; returns how many, 0 if none of them holds text. */
static Py_ssize_t match(Matching *matching, const Selector *selector, const uint8_t *holding)
{
    const PageArrays *page = &matching->page;
    Py_ssize_t found = 0;
    int32_t i, k;
    int holds = 0;
    mark_names(matching, selector, 1);
    for (i = 0; i < (int32_t)page->n; i++) {
        int part = i ? matching->begun[page->parent[i]] : 0;
        uint32_t bits = 0;
        for (k = page->attribute_begin[i]; k < page->attribute_begin[i + 1]; k++) {
            bits |= matching->bits[page->first[k]];
        }
        while (part < selector->parts && !(selector->bits[part] & ~bits)
               && (selector->tag[part] < 0 || selector->tag[part] == page->tag[i])) {
            part++;
        }
        if (part == selector->parts) {
            matching->found[found++] = i;
            holds |= holding[i];
            part--; /* an element in it may be another */
        }
        matching->begun[i] = (uint8_t)part;
    }
    mark_names(matching, selector, 0);
    return holds ? found : 0;
}

/* Append what the rules hide to a list; 0, or -1 with an exception set. */
static int append_matches(Matching *matching, const Rule *rules, int count, const uint8_t *holding, PyObject *list)
{
    int k, left = MAX_SELECTORS, failed = 0;
    for (k = 0; k < count; k++) {
        Span all = rules[k].selectors, style = rules[k].style;
        while (left && !failed && all.begin < all.end) {
            Selector selector;
            const unsigned char *comma = memchr(all.begin, ',', (size_t)(all.end - all.begin));
            Span one = {all.begin, comma ? comma : all.end};
            Py_ssize_t found = 0;
            all.begin = comma ? comma + 1 : all.end;
            if (read_selector(matching, one, &selector)) {
                left--;
                found = match(matching, &selector, holding);
            }
            if (found) {
                PyObject *item = Py_BuildValue(
                    "NNN", PyUnicode_DecodeUTF8((const char *)one.begin, one.end - one.begin, "replace"),
                    PyUnicode_DecodeUTF8((const char *)style.begin, style.end - style.begin, "replace"),
                    PyBytes_FromStringAndSize((const char *)matching->found, 4 * found));
                failed = item == NULL || PyList_Append(list, item) < 0;
                Py_XDECREF(item);
            }
        }
    }
    return failed ? -1 : 0;
}

/* Set true for the elements that hold text of some blocks, and for the attributes of these, each at the first that is equal. */
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

/* hidden_by_rules(page, values, blocks: bool[m], has_ink: bool[r], css: bytes of UTF-8, class, id, hidden, tag_names,
                   properties, seed, holding: bool[n], present: bool[a], found: list)

   Sets true, in zeros, for the elements that hold text of some blocks, and for their attributes, by first attribute. Of the
   rules for every screen that may hide something, appends the selectors of simple parts that choose one of these elements:
   selector, declarations, and all that it chooses, int32. class, id, hidden: numbers of the names of attributes, -1 for
   none. */
PyObject *core_hidden_by_rules(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(release) Matching matching = {0};
    SCOPED(values_release) AttributeValues values = {0};
    SCOPED(array_release) Array blocks = {0}, has_ink = {0}, properties = {0}, holding = {0}, present = {0};
    SCOPED(free_memory) char *sheet = NULL;
    SCOPED(free_memory) Rule *rules = NULL;
    const PageArrays *page = &matching.page;
    Span css;
    unsigned long long seed;
    int names[3], count, failed = 0;
    PyObject *list;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&iiiO&O&KO&O&O!", in_page, &matching.page, in_values, &values, in_1, &blocks,
                          in_1, &has_ink, in_bytes, &css, &names[0], &names[1], &names[2], in_bytes, &matching.tag_names,
                          in_properties, &properties, &seed, out_1, &holding, out_1, &present, &PyList_Type, &list)
        || !check_arrays(values.places <= page->a && blocks.length == page->m && has_ink.length == page->r
                         && holding.length == page->n && present.length == page->a)) {
        return NULL;
    }
    matching.seed = seed;
    matching.found = malloc(4 * (size_t)page->n + 1);
    matching.bits = calloc((size_t)page->a + 1, sizeof *matching.bits);
    matching.begun = malloc((size_t)page->n + 1);
    sheet = malloc((size_t)(css.end - css.begin) + 1);
    rules = malloc(sizeof *rules * MAX_RULES);
    if (matching.found == NULL || matching.bits == NULL || matching.begun == NULL || sheet == NULL || rules == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    find_holders(page, ITEMS(blocks, uint8_t), ITEMS(has_ink, uint8_t), ITEMS(holding, uint8_t), ITEMS(present, uint8_t));
    count = read_rules(sheet, strip_comments(sheet, (const char *)css.begin, (const char *)css.end), rules);
    failed = count && list_words(&matching, &values, names, ITEMS(present, uint8_t), ITEMS(properties, uint8_t)) < 0;
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_NoMemory();
    }
    if (append_matches(&matching, rules, count, ITEMS(holding, uint8_t), list) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}
