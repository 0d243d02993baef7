/* Strings that are stored once: names of elements and attributes, and values of attributes. */
#include "flatten.h"

enum { FEW = 512 }; /* strings that there is room for at first */

int append(Bytes *to, Span text)
{
    size_t length = (size_t)(text.end - text.begin);
    if (make_room(&to->data, &to->capacity, to->used + length) < 0) {
        return NO_MEMORY;
    }
    if (length) {
        memcpy(to->data + to->used, text.begin, length);
    }
    to->used += length;
    return READ;
}

/* Whether a byte is a control that leaves, or an unusual line end. */
static inline unsigned char is_control(unsigned char c)
{
    return (unsigned char)(((c < ' ') & (c != '\t') & (c != '\n')) | (c == 0x7F));
}

int may_change(Span text)
{
    const unsigned char *at = text.begin;
    size_t k, last = text.begin < text.end ? (size_t)(text.end - text.begin) - 1 : 0;
    unsigned char found = text.begin < text.end ? is_control(at[last]) : 0;
    for (k = 0; k < last; k++) {
        unsigned char c = at[k], next = at[k + 1];
        found |= (unsigned char)(is_control(c) | ((c == 0xC2) & (next < 0xA0)) | ((c == 0xED) & (next >= 0xA0))
                                 | ((c == 0xBF) & ((next | 1) == 0xBF)));
    }
    return found != 0;
}

int append_plain(Bytes *to, Span text)
{
    unsigned char *out;
    if (make_room(&to->data, &to->capacity, to->used + (size_t)(text.end - text.begin)) < 0) {
        return NO_MEMORY;
    }
    out = (unsigned char *)to->data + to->used;
    while (text.begin < text.end) {
        const unsigned char *at = text.begin++;
        size_t left = (size_t)(text.end - at);
        if (*at == '\r') {
            text.begin += left > 1 && at[1] == '\n';
            *out++ = '\n';
        }
        else if (*at == '\v' || *at == '\f' || (*at >= 0x1C && *at < ' ')) {
            *out++ = ' ';
        }
        else if (*at == 0xC2 && left > 1 && at[1] < 0xA0) {
            text.begin++;
            if (at[1] == 0x85) {
                *out++ = ' ';
            }
        }
        else if (left > 2 && ((*at == 0xED && at[1] >= 0xA0) || (*at == 0xEF && at[1] == 0xBF && at[2] >= 0xBE))) {
            text.begin += 2;
        }
        else if ((*at >= ' ' && *at != 0x7F) || *at == '\t' || *at == '\n') {
            *out++ = *at;
        }
    }
    to->used = (size_t)(out - (unsigned char *)to->data);
    return READ;
}

/* without_controls(bytes) -> what append_plain makes of a text in UTF-8 */
PyObject *core_without_controls(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *given, *found;
    Bytes buffer = {0};
    Span text;
    if (!PyArg_ParseTuple(arguments, "S", &given) || !in_bytes(given, &text)) {
        return NULL;
    }
    if (!may_change(text)) {
        return Py_NewRef(given);
    }
    found = append_plain(&buffer, text) < 0 ? PyErr_NoMemory()
                                           : PyBytes_FromStringAndSize(buffer.data, (Py_ssize_t)buffer.used);
    free(buffer.data);
    return found;
}

int strings_allocate(Strings *strings)
{
    strings->mask = slots_for(FEW) - 1;
    strings->slots = calloc(strings->mask + 1, sizeof *strings->slots);
    if (strings->slots == NULL || make_room(&strings->items, &strings->capacity, sizeof(String) * (FEW + 1)) < 0) {
        return NO_MEMORY;
    }
    strings->items[0].begin = 0;
    return READ;
}

void strings_free(Strings *strings)
{
    free(strings->items);
    free(strings->slots);
    free(strings->text.data);
}

/* The slot of a string, or the empty one where it belongs. */
static uint32_t *slot_of(const Strings *strings, Span text, int32_t group, uint32_t hash)
{
    size_t at = hash & strings->mask, length = (size_t)(text.end - text.begin);
    for (; strings->slots[at] != 0; at = (at + 1) & strings->mask) {
        const String *item = &strings->items[strings->slots[at] - 1];
        if (item->hash == hash && item->group == group && (size_t)(item[1].begin - item->begin) == length
            && (length == 0 || memcmp(strings->text.data + item->begin, text.begin, length) == 0)) {
            break;
        }
    }
    return &strings->slots[at];
}

static uint32_t hash_in_group(Span text, int32_t group)
{
    return (uint32_t)hash_of(text, core_seed + (uint64_t)group);
}

int32_t find_string(const Strings *strings, Span text, int32_t group)
{
    return (int32_t)*slot_of(strings, text, group, hash_in_group(text, group));
}

/* Make room for one more, with slots for twice as many. */
static int grow(Strings *strings)
{
    size_t slots = 2 * (strings->mask + 1), number, at;
    uint32_t *larger;
    if (strings->used >= INT32_MAX
        || make_room(&strings->items, &strings->capacity, sizeof(String) * (strings->used + 2)) < 0) {
        return NO_MEMORY;
    }
    if (2 * (strings->used + 1) <= strings->mask) {
        return READ;
    }
    if ((larger = calloc(slots, sizeof *larger)) == NULL) {
        return NO_MEMORY;
    }
    for (number = 0; number < strings->used; number++) {
        for (at = strings->items[number].hash & (slots - 1); larger[at] != 0; at = (at + 1) & (slots - 1)) {
        }
        larger[at] = (uint32_t)number + 1;
    }
    free(strings->slots);
    strings->slots = larger;
    strings->mask = slots - 1;
    return READ;
}

int32_t put_string(Strings *strings, Span text, int32_t group)
{
    uint32_t hash = hash_in_group(text, group), *slot = slot_of(strings, text, group, hash);
    String *item;
    if (*slot != 0) {
        return (int32_t)*slot;
    }
    if (append(&strings->text, text) < 0) {
        return NO_MEMORY;
    }
    *slot = (uint32_t)++strings->used;
    item = &strings->items[strings->used - 1];
    item->hash = hash;
    item->group = group;
    item->note = 0;
    item[1].begin = (int64_t)strings->text.used;
    return grow(strings) < 0 ? NO_MEMORY : (int32_t)strings->used;
}

int put_lines(Strings *strings, Span lines)
{
    int32_t found = READ;
    while (lines.begin < lines.end && found > 0) {
        found = put_string(strings, next_line(&lines), 0);
    }
    return found > 0 ? READ : NO_MEMORY;
}

Span lexbor_name(uintptr_t address)
{
    const LexborName *entry = (const LexborName *)address;
    const unsigned char *name = entry->length > SHORT_NAME ? entry->name.at : entry->name.here;
    return (Span){name, name + entry->length};
}

int32_t put_lexbor_name(Strings *names, const Array *known, uintptr_t name)
{
    if (name >= MOST_KNOWN) {
        return put_string(names, lexbor_name(name), 0);
    }
    return name < (uintptr_t)known->length ? ITEMS(*known, int32_t)[name] : UNREADABLE;
}

int32_t put_libxml2_name(Strings *names, const Node *node, Bytes *buffer)
{
    if (node->space == NULL || node->space->href == NULL) {
        return put_string(names, span_of(node->name), 0);
    }
    buffer->used = 0;
    if (append(buffer, span_of("{")) < 0 || append(buffer, span_of(node->space->href)) < 0
        || append(buffer, span_of("}")) < 0 || append(buffer, span_of(node->name)) < 0) {
        return NO_MEMORY;
    }
    return put_string(names, bytes_from(buffer, 0), 0);
}
