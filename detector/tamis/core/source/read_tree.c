/* One walk over a tree, without recursion: elements with their names and attributes, runs of text, blocks. */
#include "flatten.h"

enum { LONGEST_TAG = 16 }; /* no name that has a tag is longer */

/* The tag of a name that has none itself: that of its local part in lower case, or 0. */
static int32_t tag_of_local_name(const Strings *names, Span name)
{
    unsigned char lower[LONGEST_TAG];
    const unsigned char *at = name.end;
    size_t length = 0;
    int32_t found;
    while (at > name.begin && at[-1] != '}') {
        at--;
    }
    for (; at < name.end && length < LONGEST_TAG; at++) {
        lower[length++] = (unsigned char)lower_of(*at);
    }
    found = at == name.end ? find_string(names, (Span){lower, lower + length}, 0) : 0;
    return found ? names->items[found - 1].note : 0;
}

/* Whether the contents of a template are attached to the page. */
static int is_shadow_root(const LexborElement *template)
{
    const LexborAttribute *attribute = template->first_attribute;
    for (; attribute != NULL; attribute = attribute->next) {
        if (attribute->node.local_name >= MOST_KNOWN) { /* lexbor knows neither name */
            Span name = lexbor_name(attribute->node.local_name);
            size_t length = (size_t)(name.end - name.begin);
            if ((length == 10 || length == 14) && memcmp(name.begin, "shadowrootmode", length) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static int read_name(Flat *flat, Element *element)
{
    Strings *names = &flat->tags;
    const LexborNode *node = element->node;
    size_t known = names->used;
    int32_t found;
    if (!flat->tree->is_lexbor) {
        found = put_libxml2_name(names, element->node, &flat->buffer);
    }
    else if (is_template(flat->tree, node) && is_shadow_root(element->node)) {
        found = put_string(names, span_of("div"), 0);
    }
    else {
        found = put_lexbor_name(names, &flat->tree->known_tags, node->local_name);
    }
    if (found <= 0) {
        return found;
    }
    element->name = found - 1;
    if (names->used > known) {
        names->items[known].note = tag_of_local_name(names, string_of(names, known));
    }
    element->tag = (int16_t)names->items[element->name].note;
    return READ;
}

/* Store an attribute, by what finding its name came to. */
static int add_attribute(Flat *flat, int32_t name, Span value)
{
    size_t known = flat->values.used;
    int32_t found = name;
    if (found > 0 && flat->has_controls) {
        flat->buffer.used = 0;
        found = append_plain(&flat->buffer, value);
        value = bytes_from(&flat->buffer, 0);
    }
    found = found > 0 ? put_string(&flat->values, value, name - 1) : found;
    if (found <= 0) {
        return found;
    }
    if (flat->a >= INT32_MAX || make_room(&flat->first, &flat->first_capacity, sizeof(int32_t) * (flat->a + 1)) < 0) {
        return NO_MEMORY;
    }
    if (flat->values.used > known) {
        flat->values.items[known].note = (int32_t)flat->a;
    }
    flat->first[flat->a++] = flat->values.items[found - 1].note;
    return READ;
}

static int read_lexbor_attributes(Flat *flat, const LexborElement *element)
{
    const LexborAttribute *attribute = element->first_attribute;
    int is_read = READ;
    for (; attribute != NULL && is_read == READ; attribute = attribute->next) {
        uintptr_t name = attribute->node.prefix ? attribute->qualified_name : attribute->node.local_name; /* xlink:href */
        int32_t found = put_lexbor_name(&flat->attributes, &flat->tree->known_attributes, name);
        is_read = add_attribute(flat, found, span_in_lexbor(attribute->value));
    }
    return is_read;
}

/* UNREADABLE if a value holds entities. */
static int read_libxml2_attributes(Flat *flat, const Node *element)
{
    const Node *attribute = element->properties;
    int is_read = READ;
    for (; attribute != NULL && is_read == READ; attribute = attribute->next) {
        const Node *text = attribute->children;
        if (attribute->type != ATTRIBUTE) {
            continue;
        }
        if (text != NULL && ((text->type != TEXT && text->type != CDATA) || text->next != NULL)) {
            return UNREADABLE;
        }
        is_read = add_attribute(flat, put_libxml2_name(&flat->attributes, attribute, &flat->buffer),
                                span_of(text ? text->content : NULL));
    }
    return is_read;
}

static int is_nonblank(Span text)
{
    skip_white_space(&text, text.end - text.begin);
    return text.begin < text.end;
}

/* Whether the text that begins an element is not blank. */
static int begins_nonblank(const Flat *flat, const void *element)
{
    const void *at = step_from(flat->tree, element).children;
    while (is_text(flat->tree, at) && !is_nonblank(text_of(flat->tree, at))) {
        at = step_from(flat->tree, at).next;
    }
    return is_text(flat->tree, at);
}

/* Whether there is no white space around a place within a text. */
static int is_in_word(const unsigned char *at, const unsigned char *end)
{
    Span after = {at, end}, before = {at - 1, end};
    while ((*before.begin & 0xC0) == 0x80) {
        before.begin--;
    }
    return !((next_property(&before) | next_property(&after)) & WHITE_SPACE);
}

/* End the current run, if there is one. */
static int end_run(Flat *flat)
{
    const unsigned char *begin;
    int64_t characters;
    Span text;
    Run *run;
    if (flat->run_begin == flat->text.used) {
        return READ;
    }
    if (flat->r + 1 >= INT32_MAX || make_room(&flat->runs, &flat->runs_capacity, sizeof(Run) * (flat->r + 2)) < 0
        || make_room(&flat->blocks, &flat->blocks_capacity, sizeof(Block) * (flat->m + 1)) < 0) {
        return NO_MEMORY;
    }
    text = bytes_from(&flat->text, flat->run_begin);
    run = &flat->runs[flat->r++];
    run->node = flat->current;
    run->is_nonblank = (uint8_t)is_nonblank(text);
    run->has_unseen = run->continues_word = 0;
    begin = text.begin;
    text.begin = skip_ascii(text);
    for (characters = text.begin - begin; text.begin < text.end; characters++) {
        run->has_unseen |= (next_property(&text) & IS_UNSEEN) != 0;
    }
    run[1].offset = run->offset + characters;
    flat->run_begin = flat->text.used;
    if (!run->is_nonblank) {
        return READ;
    }
    if (flat->last_border != flat->border) {
        flat->last_border = flat->border;
        flat->blocks[flat->m++] = (Block){flat->elements[flat->current].container, (int32_t)flat->r - 1, 0};
    }
    else {
        run->continues_word = run[-1].is_nonblank && is_in_word(begin, text.end);
    }
    flat->blocks[flat->m - 1].run_end = (int32_t)flat->r;
    return READ;
}

static int begin_element(Flat *flat, const void *node)
{
    size_t wanted = sizeof(Element) * (flat->n + 2);
    int32_t i = (int32_t)flat->n, around = flat->current;
    Element *element;
    uint32_t sets;
    int is_read;
    if (flat->n + 1 >= INT32_MAX || make_room(&flat->elements, &flat->elements_capacity, wanted) < 0) {
        return NO_MEMORY;
    }
    element = &flat->elements[flat->n++];
    *element = (Element){.node = node, .parent = around, .run_begin = (int32_t)flat->r, .block_begin = (int32_t)flat->m,
                         .attribute_begin = (int32_t)flat->a, .container = i};
    if ((is_read = read_name(flat, element)) != READ) {
        return is_read;
    }
    sets = core_tables.tag_sets[element->tag];
    if (around >= 0) {
        const Element *parent = &flat->elements[around];
        element->depth = parent->depth + 1;
        element->container = sets & TAG_BLOCK_LEVEL ? i : parent->container;
    }
    flat->levels = (size_t)element->depth < flat->levels ? flat->levels : (size_t)element->depth + 1;
    element->is_raw = (sets & TAG_RAW_TEXT) || (((sets & TAG_UNSEEN_TEXT) || flat->hidden) && begins_nonblank(flat, node));
    flat->border += (sets & TAG_BLOCK_LEVEL) || around < 0;
    flat->hidden += (sets & TAG_UNSEEN_TEXT) != 0;
    if (i && around == flat->head && !flat->content_in_head && !(sets & TAG_STAYS_IN_HEAD)) {
        flat->content_in_head = i;
    }
    if (flat->head < 0 && (sets & TAG_HEAD)) {
        flat->head = i;
    }
    flat->current = i;
    return flat->tree->is_lexbor ? read_lexbor_attributes(flat, node) : read_libxml2_attributes(flat, node);
}

/* End the current element. */
static void end_element(Flat *flat)
{
    Element *element = &flat->elements[flat->current];
    uint32_t sets = core_tables.tag_sets[element->tag];
    element->end = (int32_t)flat->n;
    element->run_end = (int32_t)flat->r;
    element->block_end = (int32_t)flat->m;
    flat->border += (sets & TAG_BLOCK_LEVEL) != 0;
    flat->hidden -= (sets & TAG_UNSEEN_TEXT) != 0;
    flat->current = element->parent;
}

int read_tree(Flat *flat)
{
    const Tree *tree = flat->tree;
    const void *at = tree->root;
    int is_read;
    flat->current = flat->head = flat->last_border = -1;
    if (make_room(&flat->runs, &flat->runs_capacity, sizeof(Run)) < 0) {
        return NO_MEMORY;
    }
    flat->runs[0].offset = 0;
    for (;;) {
        Step step = step_from(tree, at);
        if (step.is_text && !flat->hidden) {
            is_read = (flat->has_controls ? append_plain : append)(&flat->text, text_of(tree, at));
        }
        else {
            is_read = step.is_text ? READ : end_run(flat);
        }
        flat->nodes += !step.is_text;
        if (step.is_element && is_read == READ) {
            is_read = begin_element(flat, at);
        }
        if (is_read != READ) {
            return is_read;
        }
        if (step.children != NULL) {
            at = step.children;
            continue;
        }
        if (step.is_element) {
            end_element(flat);
        }
        while (at != tree->root && step.next == NULL) {
            if (end_run(flat) < 0) {
                return NO_MEMORY;
            }
            at = flat->elements[flat->current].node;
            end_element(flat);
            step.next = step_from(tree, at).next;
        }
        if (at == tree->root) {
            flat->elements[flat->n].attribute_begin = (int32_t)flat->a;
            return READ;
        }
        at = step.next;
    }
}
