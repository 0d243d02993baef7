/* A page's own styles: its sheets are read once, then searched for rules that may say something, for tamis.page.cascade. */
#include "style_names.h"

#include "fingerprints.h"

#define STYLES "tamis.core.styles"

enum { MAX_LEVELS = 16, MAX_BLOCKS = 1 << 17, MAX_DECLARATIONS = 1 << 18 }; /* of a page */
enum { MAX_CONDITIONS = 64, MAX_RULES = 1000, MAX_LENGTH = 1 << 22 }; /* of a search; the length is of all preludes */

/* A declaration: how long its name is, where its value begins, the bit of its name, and the next one in its block, -1 for none. */
typedef struct {
    Span text;
    uint16_t name, value;
    int32_t bit, next;
} Declaration;

/* What holds declarations: the rules of a selector, those of an at-rule, or a style attribute. */
enum { RULE, GROUP, STYLE_ATTRIBUTE };

/* What stands before a block, or a style attribute; the block around it, -1 for none, or the index of the first equal attribute;
   its declarations and their bits. */
typedef struct {
    Span prelude;
    int32_t parent, first, last, kind;
    uint64_t bits;
} StyleBlock;

/* Blocks are in the order in which they begin; those without declarations are around others. */
typedef struct {
    PyObject *held;      /* what is pointed into */
    unsigned char *room; /* statements without their comments */
    PageNames names;
    int attribute; /* number of style attributes */
    int32_t blocks, declarations;
    size_t block_capacity, declaration_capacity;
    StyleBlock *block;
    Declaration *declaration;
} Styles;

/* A property that is looked for, and how the values that matter begin, in words, none for all. It makes a rule matter by
   itself, 0, or together with another one: 1 with 2, 4 with 8. */
typedef struct {
    Span name, starts;
    int half;
} Condition;

/* Conditions, and which of them there are for each bit of a name. */
typedef struct {
    Condition conditions[MAX_CONDITIONS];
    uint64_t bits, of_bit[64];
} Wanted;

/* Whether a text begins with a word in lower case, in which "_" is any character. */
static int begins(Span text, Span word)
{
    while (word.begin < word.end && text.begin < text.end && (lower_of(*text.begin) == *word.begin || *word.begin == '_')) {
        word.begin++;
        text.begin++;
    }
    return word.begin == word.end;
}

static int bit_of_name(Span name)
{
    return (lower_of(*name.begin) + 9 * (int)(name.end - name.begin)) & 63;
}

/* Begin a block; its number, or -1 without memory. */
static int32_t open_block(Styles *styles, Span prelude, int32_t parent, int32_t kind)
{
    if (make_room(&styles->block, &styles->block_capacity, sizeof(StyleBlock) * ((size_t)styles->blocks + 1)) < 0) {
        return -1;
    }
    styles->block[styles->blocks] = (StyleBlock){prelude, parent, -1, -1, kind, 0};
    return styles->blocks++;
}

/* Keep a declaration of a block; 0, or -1 without memory. */
static int keep_declaration(Styles *styles, StyleBlock *block, Span text)
{
    const unsigned char *colon = memchr(text.begin, ':', (size_t)(text.end - text.begin));
    Span name = without_spaces((Span){text.begin, colon ? colon : text.begin}), value;
    int32_t number = styles->declarations, bit;
    if (name.begin == name.end || number == MAX_DECLARATIONS) {
        return 0;
    }
    value = without_spaces((Span){colon + 1, text.end});
    if (value.begin - name.begin > UINT16_MAX) {
        return 0;
    }
    if (make_room(&styles->declaration, &styles->declaration_capacity, sizeof(Declaration) * ((size_t)number + 1)) < 0) {
        return -1;
    }
    bit = bit_of_name(name);
    styles->declaration[styles->declarations++] = (Declaration){
        {name.begin, value.end}, (uint16_t)(name.end - name.begin), (uint16_t)(value.begin - name.begin), bit, -1};
    *(block->first < 0 ? &block->first : &styles->declaration[block->last].next) = number;
    block->last = number;
    block->bits |= (uint64_t)1 << bit;
    return 0;
}

/* Whether the rules in a block may be of the page, by the text before its brace. */
static int is_group(Span prelude)
{
    static const char *const groups[] = {"@media", "@supports", "@layer", "@scope"};
    size_t k;
    for (k = 0; k < sizeof groups / sizeof *groups && !begins(prelude, span_of(groups[k])); k++) {
    }
    return k < sizeof groups / sizeof *groups;
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
    int length = 4;
    for (text = without_spaces(text); length && text.end - text.begin > 3; text = without_spaces(text)) {
        length = memcmp(text.begin, "<!--", 4) == 0 ? 4 : memcmp(text.begin, "-->", 3) == 0 ? 3 : 0;
        text.begin += length;
    }
    return text;
}

/* Read a sheet; what has comments is copied without them, into as much room. 0, or -1 without memory. */
static int read_rules(Styles *styles, Span css, unsigned char *to)
{
    static const uint8_t is_mark[256] = {['{'] = 1, ['}'] = 1, [';'] = 1, ['"'] = 1, ['\''] = 1, ['/'] = 1,
                                         ['\\'] = 1, ['('] = 1, [')'] = 1, ['['] = 1, [']'] = 1};
    unsigned char *copied = to;                       /* of a statement, after a comment */
    const unsigned char *at = css.begin, *begin = at; /* of a statement, or after its last comment */
    int32_t levels[MAX_LEVELS];                       /* the block at each, -1 for one that is not read */
    int depth = -1, skipped = 0, brackets = 0;        /* skipped: blocks below the deepest level */
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
        if (c != '{' && depth >= 0 && !skipped && levels[depth] >= 0
            && keep_declaration(styles, &styles->block[levels[depth]], statement) < 0) {
            return -1;
        }
        if (c == '{') {
            Span prelude = without_comment_marks(statement);
            int32_t parent = depth >= 0 ? levels[depth] : -1;
            int is_at = prelude.begin == prelude.end || *prelude.begin == '@';
            if (depth + 1 == MAX_LEVELS || styles->blocks >= MAX_BLOCKS) {
                skipped++;
            }
            else if ((depth >= 0 && parent < 0) || (is_at && !is_group(prelude))) {
                levels[++depth] = -1;
            }
            else if ((levels[++depth] = open_block(styles, prelude, parent, is_at ? GROUP : RULE)) < 0) {
                return -1;
            }
        }
        else if (c == '}' && skipped) {
            skipped--;
        }
        else if (c == '}' && depth >= 0) {
            int32_t last = levels[depth--];
            styles->blocks -= last >= 0 && last == styles->blocks - 1 && styles->block[last].first < 0;
        }
        at += at < css.end;
        begin = at;
        copied = to;
    }
    return 0;
}

/* Read the declarations of a style attribute; what has comments or escapes, or variables of its own, may say anything. 0, or -1
   without memory. */
static int read_attribute(Styles *styles, Span style, int32_t first_index)
{
    const unsigned char *at;
    int32_t number = open_block(styles, style, first_index, STYLE_ATTRIBUTE), k = styles->declarations;
    int is_open = 0, variables = 0; /* 1: some are set, 2: some are used */
    if (number < 0) {
        return -1;
    }
    for (at = style.begin; at < style.end && !is_open; at++) {
        is_open = *at == '\\' || (*at == '*' && at > style.begin && at[-1] == '/');
    }
    while (style.begin < style.end && !is_open) {
        const unsigned char *end = memchr(style.begin, ';', (size_t)(style.end - style.begin));
        end = end ? end : style.end;
        if (keep_declaration(styles, &styles->block[number], (Span){style.begin, end}) < 0) {
            return -1;
        }
        for (; k < styles->declarations; k++) {
            Span text = styles->declaration[k].text, value = {text.begin + styles->declaration[k].value, text.end};
            variables |= begins(text, span_of("--")) ? 1 : begins(value, span_of("var(")) ? 2 : 0;
        }
        style.begin = end < style.end ? end + 1 : end;
        is_open = variables == 3 || styles->declarations == MAX_DECLARATIONS;
    }
    if (is_open) {
        styles->block[number].first = -1;
        styles->block[number].bits = UINT64_MAX;
    }
    return 0;
}

/* Read the names that are wanted, with what stands after each. */
static void read_wanted(Wanted *wanted, Span lines)
{
    int count = 0;
    while (lines.begin < lines.end && count < MAX_CONDITIONS) {
        Span line = next_line(&lines);
        const unsigned char *space = memchr(line.begin, ' ', (size_t)(line.end - line.begin));
        if (space != NULL && space > line.begin && space + 1 < line.end) {
            int bit = bit_of_name((Span){line.begin, space});
            wanted->bits |= (uint64_t)1 << bit;
            wanted->of_bit[bit] |= (uint64_t)1 << count;
            wanted->conditions[count++] = (Condition){{line.begin, space}, {space + 2, line.end}, space[1] - '0'};
        }
    }
}

/* Whether a value may be such that it matters, by how it begins. */
static int is_among_starts(Span starts, Span value)
{
    Span start = next_word(&starts);
    int is_any = start.begin == start.end;
    while (start.begin < start.end && !begins(value, start)) {
        start = next_word(&starts);
    }
    return value.begin < value.end && (is_any || start.begin < start.end);
}

/* Which half of what matters a declaration is, 16 for all of it, 0 for none. */
static int half_of(const Wanted *wanted, const Declaration *declaration)
{
    Span text = declaration->text, value = {text.begin + declaration->value, text.end};
    uint64_t bits = wanted->of_bit[declaration->bit];
    for (; bits; bits &= bits - 1) {
        const Condition *condition = &wanted->conditions[__builtin_ctzll(bits)];
        if (condition->name.end - condition->name.begin == declaration->name && begins(text, condition->name)
            && is_among_starts(condition->starts, value)) {
            return condition->half ? condition->half : 16;
        }
    }
    return 0;
}

static int matters(const Styles *styles, const Wanted *wanted, const StyleBlock *block)
{
    int halves = block->first < 0 ? 16 : 0; /* of a style attribute that may say anything */
    int32_t k = block->first;
    if (!(block->bits & wanted->bits)) {
        return 0;
    }
    for (; k >= 0; k = styles->declaration[k].next) {
        halves |= half_of(wanted, &styles->declaration[k]);
    }
    return halves & 16 || (halves & 3) == 3 || (halves & 12) == 12;
}

/* The next block that matters, from one on; the number of all blocks for none. */
static int32_t next_block(const Styles *styles, const Wanted *wanted, int32_t number)
{
    while (number < styles->blocks && !matters(styles, wanted, &styles->block[number])) {
        number++;
    }
    return number;
}

/* Write the text of a style attribute, or of a rule, if it is not too long. 1, 0 if none of its selectors may match, or -1 without
   memory. */
static int write_block(Bytes *to, const Styles *styles, const Wanted *wanted, Subjects *subjects, int32_t number, size_t *left)
{
    int32_t around[MAX_LEVELS], k, depth = 0, last = -1;
    int found;
    to->used = 0;
    if (styles->block[number].kind == STYLE_ATTRIBUTE) {
        return append(to, styles->block[number].prelude);
    }
    for (k = number; k >= 0; k = styles->block[k].parent) {
        Span prelude = styles->block[k].prelude;
        size_t length = (size_t)(prelude.end - prelude.begin);
        last = last < 0 && styles->block[k].kind == RULE ? k : last;
        around[depth++] = k;
        *left -= length < *left ? length : *left;
    }
    found = last >= 0 && *left > 0;
    while (depth && found > 0) {
        Span prelude = styles->block[k = around[--depth]].prelude;
        int is_rule = styles->block[k].kind == RULE;
        found = is_rule ? put_selectors(to, subjects, prelude, k == last) : 1;
        found = found > 0 ? put(to, is_rule ? (Span){NULL, NULL} : prelude, '\0') : found;
    }
    for (k = styles->block[number].first; k >= 0 && found > 0; k = styles->declaration[k].next) {
        const Declaration *declaration = &styles->declaration[k];
        found = half_of(wanted, declaration) ? put(to, declaration->text, ';') : found;
    }
    return found;
}

static void free_styles(PyObject *capsule)
{
    Styles *styles = PyCapsule_GetPointer(capsule, STYLES);
    free(styles->room);
    free(styles->block);
    free(styles->declaration);
    Py_XDECREF(styles->held);
    free(styles);
}

/* Read style attributes and sheets; 0, or -1 without memory. */
static int read_styles(Styles *styles, Span css)
{
    const AttributeValues *values = &styles->names.page.values;
    Py_ssize_t i;
    for (i = 0; i < values->d; i++) {
        if (values->name_of[i] == styles->attribute && read_attribute(styles, value_of(values, i), values->first_index[i]) < 0) {
            return -1;
        }
    }
    styles->room = malloc((size_t)(css.end - css.begin) + 1);
    if (styles->room == NULL || read_rules(styles, css, styles->room) < 0) {
        return -1;
    }
    return css.begin < css.end ? note_names(&styles->names.all, &styles->names, NULL) : 0;
}

/* read_styles(page, tags, untagged, css, class, id, style) -> capsule, which holds them

   A page's own styles, for the other two: css, its sheets as bytes of UTF-8, and its style attributes. tags, untagged: names of
   tags, and of elements without a tag, a line each. class, id, style: numbers of attributes, -1 for those that the page lacks. */
PyObject *core_read_styles(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Styles *styles = calloc(1, sizeof *styles);
    PyObject *capsule = styles ? PyCapsule_New(styles, STYLES, free_styles) : PyErr_NoMemory();
    PageNames *names = styles ? &styles->names : NULL;
    Span css;
    int failed;
    if (capsule == NULL) {
        free(styles);
    }
    else if (!PyArg_ParseTuple(arguments, "O&O&O&O&iii", in_page, &names->page, in_text, &names->tags, in_text, &names->untagged,
                               in_bytes, &css, &names->classes, &names->ids, &styles->attribute)) {
        Py_CLEAR(capsule);
    }
    else {
        styles->held = Py_NewRef(arguments);
        Py_BEGIN_ALLOW_THREADS
        failed = read_styles(styles, css);
        Py_END_ALLOW_THREADS
        if (failed) {
            Py_CLEAR(capsule);
            PyErr_NoMemory();
        }
    }
    return capsule;
}

static int in_styles(PyObject *capsule, void *styles)
{
    return (*(const Styles **)styles = PyCapsule_GetPointer(capsule, STYLES)) != NULL;
}

/* has_styles(styles, wanted) -> whether a property is set as it is wanted, on whatever element; wanted: as below */
PyObject *core_has_styles(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const Styles *styles;
    Wanted wanted = {0};
    Span lines;
    int32_t k;
    if (!PyArg_ParseTuple(arguments, "O&O&", in_styles, &styles, in_text, &lines)) {
        return NULL;
    }
    read_wanted(&wanted, lines);
    Py_BEGIN_ALLOW_THREADS
    k = next_block(styles, &wanted, 0);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(k < styles->blocks);
}

/* find_styles(styles, subjects: bool[n], wanted, is_lax) -> rules: list of (order, str), attributes: list of (place, str)

   The rules that set a property as it is wanted on some elements, the subjects, in the order in which they begin, without
   comments: the preludes of the blocks around the declarations, each followed by a zero character, and each selector by a
   character 1; then the declarations. Only selectors that may match are there. And the style attributes that set such a
   property, on whatever element. wanted: a property a line, a space, its half, and the words that values which matter begin
   with. is_lax: also of other states of the subjects, in which they have other classes. */
PyObject *core_find_styles(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array chosen = {0};
    SCOPED(release_object) PyObject *rules = PyList_New(0), *attributes = PyList_New(0);
    Subjects subjects = {0};
    Wanted wanted = {0};
    Bytes text = {0};
    const Styles *styles;
    Span lines;
    size_t left = MAX_LENGTH;
    int32_t k = -1;
    int found = 1;
    if (rules == NULL || attributes == NULL
        || !PyArg_ParseTuple(arguments, "O&O&O&p", in_styles, &styles, in_1, &chosen, in_text, &lines, &subjects.is_lax)
        || !check_arrays(chosen.length == styles->names.page.n)) {
        return NULL;
    }
    subjects.page = &styles->names;
    subjects.chosen = ITEMS(chosen, uint8_t);
    read_wanted(&wanted, lines);
    while (found >= 0 && k < styles->blocks && PyList_Size(rules) < MAX_RULES) {
        Py_BEGIN_ALLOW_THREADS
        k = next_block(styles, &wanted, k + 1);
        found = k < styles->blocks ? write_block(&text, styles, &wanted, &subjects, k, &left) : 0;
        Py_END_ALLOW_THREADS
        if (found > 0) {
            int is_rule = styles->block[k].kind != STYLE_ATTRIBUTE;
            PyObject *string = PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.used, "replace");
            PyObject *item = Py_BuildValue("iN", is_rule ? k : styles->block[k].parent, string);
            found = append_item(is_rule ? rules : attributes, item) < 0 ? -1 : 1;
        }
    }
    free(text.data);
    if (found < 0) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return Py_BuildValue("OO", rules, attributes);
}
