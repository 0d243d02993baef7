/* The names in selectors, and those on a page. */
#include "style_names.h"

#include "fingerprints.h"

enum { MAX_TAGS = 256 };
enum { ELEMENT = 'a' }; /* the mark of a name of elements */

static uint64_t bit_of(Span name, unsigned char mark)
{
    return hash_of(name, mark) % NAME_BITS;
}

static void add_name(Names *names, Span name, unsigned char mark)
{
    uint64_t bit = bit_of(name, mark);
    names->bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void add_words(Names *names, Span value, unsigned char mark)
{
    Span word;
    while (word = next_word(&value), word.begin < word.end) {
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
static unsigned char mark_of(unsigned char first, int is_first)
{
    return first == '.' || first == '#' || first == '[' ? first : is_first && is_letter(first) ? ELEMENT : 0;
}

int is_word(Span text, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(text.end - text.begin) == length && memcmp(text.begin, word, length) == 0;
}

static void note_elements(StyleNames *style)
{
    uint8_t has_tag[2][MAX_TAGS] = {{0}};
    Span tag_names = style->tag_names, others = style->others;
    Py_ssize_t i;
    for (i = 0; i < style->page.n; i++) {
        has_tag[0][style->page.tag[i] % MAX_TAGS] = 1;
        has_tag[1][style->page.tag[i] % MAX_TAGS] |= style->subjects[i];
    }
    for (i = 0; i < MAX_TAGS && tag_names.begin < tag_names.end; i++) {
        Span name = next_line(&tag_names);
        int which;
        for (which = 0; which < 2; which++) {
            if (has_tag[which][i]) {
                add_name(&style->names[which], name, ELEMENT);
            }
        }
    }
    while (others.begin < others.end) {
        Span name = next_line(&others);
        add_name(&style->names[0], name, ELEMENT);
        add_name(&style->names[1], name, ELEMENT);
    }
}

/* Note the names on the page and of subjects, once there is a rule that they are needed for. */
static void note_names(StyleNames *style)
{
    const AttributeValues *values = &style->page.values;
    Py_ssize_t i;
    if (style->is_noted) {
        return;
    }
    style->is_noted = 1;
    note_elements(style);
    for (i = 0; i < values->d; i++) {
        Attribute *attribute = &style->attributes[values->name_of[i]];
        int which;
        for (which = 0; which <= style->is_of_subject[values->first_index[i]]; which++) {
            if (!attribute->is_noted[which]) {
                attribute->is_noted[which] = 1;
                add_name(&style->names[which], attribute->name, '[');
            }
            if (attribute->mark) {
                add_words(&style->names[which], value_of(values, i), attribute->mark);
            }
        }
    }
}

int style_names_read(StyleNames *style, Span lines)
{
    const PageArrays *page = &style->page;
    Py_ssize_t i;
    int32_t k;
    style->attributes = calloc((size_t)style->page.values.names + 1, sizeof *style->attributes);
    style->is_of_subject = calloc(1, (size_t)page->a + 1);
    if (style->attributes == NULL || style->is_of_subject == NULL) {
        return -1;
    }
    for (i = 0; i < style->page.values.names && lines.begin < lines.end; i++) {
        Span name = next_line(&lines);
        unsigned char mark = is_word(name, "class") ? '.' : is_word(name, "id") ? '#' : 0;
        style->attributes[i] = (Attribute){name, mark, {0}};
    }
    for (i = 0; i < page->n; i++) {
        for (k = page->attribute_begin[i]; style->subjects[i] && k < page->attribute_begin[i + 1]; k++) {
            style->is_of_subject[page->first[k]] = 1;
        }
    }
    return 0;
}

void style_names_release(StyleNames *style)
{
    free(style->attributes);
    free(style->is_of_subject);
}

int style_names_may_match(StyleNames *style, Span selector, int of_subjects)
{
    int depth = 0, is_first = 1, is_on_page = 1, is_missing = 0, is_shared = 0; /* the last two of the last part */
    int has_elements = 1, is_other = 0;                                           /* the last one of the last part */
    const unsigned char *at = selector.begin;
    note_names(style);
    while (at < selector.end) {
        unsigned char c = *at, room[256], mark = depth ? 0 : mark_of(*at, is_first), *small;
        Span name;
        at += mark != ELEMENT;
        depth += (c == '(' || c == '[') - ((c == ')' || c == ']') && depth);
        is_first = !depth && (is_space(c) || c == '>' || c == '+' || c == '~');
        if (is_first) {
            is_missing = is_shared = is_other = 0;
        }
        if (mark && read_name(&at, selector.end, room, sizeof room, &name)) {
            int is_shared_name, is_named;
            if ((at < selector.end && *at == '|') || (mark == '[' && (style->is_lax || name.begin == name.end))) {
                continue; /* one of a namespace, or none */
            }
            for (small = room; small < name.end && mark != '.' && mark != '#'; small++) {
                *small = (unsigned char)lower_of(*small);
            }
            is_named = has_name(&style->names[0], name, mark);
            is_shared_name = has_name(&style->names[1], name, mark);
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
    return (is_on_page && !(of_subjects && is_missing)) || (style->is_lax && (is_shared || !of_subjects));
}
