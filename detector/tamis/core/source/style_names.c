/* The names in selectors, and those on a page. */
#include "style_names.h"

enum { MAX_TAGS = 256 };
enum { TYPE = 'a' }; /* the mark of a name of elements, a type selector */

Span without_spaces(Span text)
{
    while (text.begin < text.end && is_space(*text.begin)) {
        text.begin++;
    }
    while (text.begin < text.end && is_space(text.end[-1])) {
        text.end--;
    }
    return text;
}

int put(Bytes *to, Span text, unsigned char after)
{
    return append(to, text) < 0 ? -1 : append(to, (Span){&after, &after + 1});
}

static void add_name(Names *names, Span name, unsigned char mark)
{
    uint64_t bit = hash_of(name, mark) % NAME_BITS;
    names->bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static int has_name(const Names *names, uint64_t hash)
{
    uint64_t bit = hash % NAME_BITS;
    return names->bits[bit / 64] >> bit % 64 & 1;
}

/* Read the rest of a name, without the backslashes of escapes; 0 for one with a code point, which may be any name. */
static int read_name(const unsigned char **at, const unsigned char *end, unsigned char *to, size_t room, Span *name)
{
    int is_plain = 1;
    *name = (Span){to, to};
    for (; *at < end && (is_letter(**at) || is_digit(**at) || **at == '-' || **at == '_' || **at == '\\' || **at >= 0x80); ++*at) {
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

/* What a part of a selector is by its first character: a class, an id, a name of elements; 0 for others. */
static unsigned char mark_of(unsigned char first, int is_first)
{
    return first == '.' || first == '#' ? first : is_first && is_letter(first) ? TYPE : 0;
}

static void note_elements(Names *names, const PageNames *page, const uint8_t *chosen)
{
    uint8_t has_tag[MAX_TAGS] = {0};
    Span tags = page->tags, untagged = page->untagged;
    Py_ssize_t i;
    for (i = 0; i < page->page.n; i++) {
        has_tag[page->page.tag[i] % MAX_TAGS] |= chosen == NULL || chosen[i];
    }
    for (i = 0; i < MAX_TAGS && tags.begin < tags.end; i++) {
        Span name = next_line(&tags);
        if (has_tag[i]) {
            add_name(names, name, TYPE);
        }
    }
    while (untagged.begin < untagged.end) {
        add_name(names, next_line(&untagged), TYPE);
    }
}

int note_names(Names *names, const PageNames *page, const uint8_t *chosen)
{
    const PageArrays *arrays = &page->page;
    const AttributeValues *values = &arrays->values;
    SCOPED(free_memory) uint8_t *is_wanted = malloc((size_t)arrays->a + 1); /* by first attribute */
    Py_ssize_t i;
    int32_t k;
    if (is_wanted == NULL) {
        return -1;
    }
    note_elements(names, page, chosen);
    memset(is_wanted, chosen == NULL, (size_t)arrays->a + 1);
    for (i = 0; chosen != NULL && i < arrays->n; i++) {
        for (k = arrays->attribute_begin[i]; chosen[i] && k < arrays->attribute_begin[i + 1]; k++) {
            is_wanted[arrays->first[k]] = 1;
        }
    }
    for (i = 0; i < values->d; i++) {
        int name = values->name_of[i], mark = name == page->classes ? '.' : name == page->ids ? '#' : 0;
        Span value = value_of(values, i), word;
        while (mark && is_wanted[values->first_index[i]] && (word = next_word(&value), word.begin < word.end)) {
            add_name(names, word, (unsigned char)mark);
        }
    }
    return 0;
}

/* Whether a selector may choose a subject, or something around one: all its names are on the page, those of its last part on
   a subject. In another state it may have other classes and ids. What stands in brackets or parentheses may be anything.
   -1 without memory. */
static int may_match(Subjects *subjects, Span selector, int of_subjects)
{
    int depth = 0, is_first = 1, is_on_page = 1, is_lax = subjects->is_lax;
    int is_missing = 0, is_shared = 0; /* of the last part: a name, a class or id */
    const unsigned char *at = selector.begin;
    while (at < selector.end) {
        unsigned char c = *at, room[256], mark = depth ? 0 : mark_of(*at, is_first), *small;
        Span name;
        at += mark != TYPE;
        depth += (c == '(' || c == '[') - ((c == ')' || c == ']') && depth);
        is_first = !depth && (is_space(c) || c == '>' || c == '+' || c == '~');
        if (is_first) {
            is_missing = is_shared = 0;
        }
        if (mark && read_name(&at, selector.end, room, sizeof room, &name)) {
            uint64_t hash;
            if (at < selector.end && *at == '|') {
                continue; /* a namespace */
            }
            for (small = room; small < name.end && mark == TYPE; small++) {
                *small = (unsigned char)lower_of(*small);
            }
            hash = hash_of(name, mark);
            if (!has_name(&subjects->page->all, hash)) {
                if (mark == TYPE || !is_lax) {
                    return 0;
                }
                is_on_page = 0;
            }
            if (!subjects->is_noted++ && note_names(&subjects->names, subjects->page, subjects->chosen) < 0) {
                return -1;
            }
            is_missing |= !has_name(&subjects->names, hash);
            is_shared |= mark != TYPE && has_name(&subjects->names, hash);
        }
    }
    return !of_subjects || (is_on_page && !is_missing) || (is_lax && is_shared);
}

int put_selectors(Bytes *to, Subjects *subjects, Span list, int of_subjects)
{
    static const uint8_t is_mark[256] = {['\\'] = 1, ['('] = 1, [')'] = 1, ['['] = 1, [']'] = 1, [','] = 1};
    size_t begun = to->used;
    const unsigned char *at;
    int depth = 0;
    for (at = list.begin; at <= list.end; at++) {
        int c = ',';
        while (at < list.end && !is_mark[*at]) {
            at++;
        }
        c = at < list.end ? *at : c;
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        at += c == '\\' && at + 1 < list.end;
        if (c == ',' && (depth <= 0 || at == list.end)) {
            Span selector = without_spaces((Span){list.begin, at});
            int may = selector.begin < selector.end ? may_match(subjects, selector, of_subjects) : 0;
            list.begin = at + 1;
            if (may < 0 || (may && put(to, selector, '\1') < 0)) {
                return -1;
            }
        }
    }
    return to->used > begun;
}
