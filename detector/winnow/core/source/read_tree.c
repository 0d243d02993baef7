/* One walk over a tree, without recursion: elements, runs of text, blocks. */
#include "flatten.h"

/* found[number] = text, stealing the reference; 0, or -1 with an exception. */
static int put_by_number(PyObject *found, int32_t number, PyObject *text)
{
    PyObject *key = PyLong_FromLong(number);
    int failed = key == NULL || text == NULL || PyDict_SetItem(found, key, text) < 0;
    Py_XDECREF(key);
    Py_XDECREF(text);
    return failed ? -1 : 0;
}

/* Whether a text is not blank. */
static int has_ink(Span text, const uint8_t *properties)
{
    while (text.begin < text.end) {
        if (!(next_property(properties, &text) & WHITE_SPACE)) {
            return 1;
        }
    }
    return 0;
}

/* Store the text that begins an element as it is, a blank one only where it is asked for; 0, or -1 with an exception. */
static int read_raw_text(Flat *flat, const Node *element, int32_t number, int with_blank, const uint8_t *properties)
{
    Bytes raw = {0};
    const Node *node;
    int failed = 0;
    for (node = element->children; node != NULL && IS_TEXT(node) && !failed; node = node->next) {
        failed = append_content(&raw, node);
    }
    if (!failed && (with_blank || has_ink((Span){(unsigned char *)raw.data, (unsigned char *)raw.data + raw.used}, properties))) {
        failed = put_by_number(flat->raw_texts, number, bytes_of(&raw));
    }
    free(raw.data);
    return failed;
}

/* End the current run. */
static void end_run(Flat *flat, int32_t border, int32_t *last_border, const uint8_t *properties)
{
    const unsigned char *data = (const unsigned char *)flat->text.data;
    size_t r = flat->r++;
    flat->run_offset[r + 1] = (int64_t)flat->text.used;
    flat->has_ink[r] = (uint8_t)has_ink((Span){data + flat->run_offset[r], data + flat->text.used}, properties);
    if (!flat->has_ink[r]) {
        return;
    }
    if (*last_border != border) {
        *last_border = border;
        flat->block_node[flat->m] = flat->container[flat->run_node[r]];
        flat->block_run_begin[flat->m++] = (int32_t)r;
    }
    flat->block_run_end[flat->m - 1] = (int32_t)r + 1;
}

int read_tree(Flat *flat, const Node *root, const Array *kinds, const uint8_t *properties)
{
    const Node *node = root;
    int32_t current = -1, border = 0, last_border = -1, hidden = 0, deep = 0, head = -1;
    int reading = 1, in_run = 0; /* whether text counts here, and whether there was some since the last markup */
#define END_RUN() (in_run ? (end_run(flat, border, &last_border, properties), in_run = 0) : 0)
#define KIND_OF(tag) ((tag) >= 0 && (tag) < kinds->length ? ITEMS(*kinds, uint8_t)[tag] : 0)
    for (;;) {
        if (node->type == ELEMENT) {
            int32_t tag, i = (int32_t)flat->n;
            int is_read, is_block, kind;
            END_RUN();
            reading = 1;
            if (flat->n >= flat->size.elements) {
                PyErr_SetString(PyExc_RuntimeError, "the tree has changed while it was read");
                return -1;
            }
            if ((tag = tag_of(flat, node)) < 0
                || (tag == 0 && put_by_number(flat->unknown, i, full_name(node->name, node->space)) < 0)) {
                return -1;
            }
            flat->n++;
            flat->tag[i] = (int16_t)tag;
            flat->parent[i] = current;
            flat->depth[i] = deep++;
            flat->run_begin[i] = (int32_t)flat->r;
            flat->block_begin[i] = (int32_t)flat->m;
            kind = KIND_OF(tag);
            if (((kind & (RAW_TEXT | UNSEEN_TEXT)) || hidden) && read_raw_text(flat, node, i, kind & RAW_TEXT, properties) < 0) {
                return -1;
            }
            if ((is_read = read_attributes(flat, node)) != 1) {
                return is_read;
            }
            flat->attribute_begin[i + 1] = (int32_t)flat->a;
            is_block = (kind & BLOCK_LEVEL) != 0;
            flat->container[i] = is_block || current < 0 ? i : flat->container[current];
            border += is_block || current < 0;
            hidden += (kind & UNSEEN_TEXT) != 0;
            if (i && current == head && !flat->content_in_head && !(kind & STAYS_IN_HEAD)) {
                flat->content_in_head = i;
            }
            head = head < 0 && (kind & HEAD) ? i : head;
            current = i;
            if (node->children != NULL) {
                node = node->children;
                continue;
            }
        }
        else if (IS_TEXT(node)) {
            if (reading && !hidden && node->content != NULL && node->content[0] != 0) {
                if (!in_run) {
                    if (flat->r >= flat->size.texts) {
                        PyErr_SetString(PyExc_RuntimeError, "the tree has changed while it was read");
                        return -1;
                    }
                    flat->run_node[flat->r] = current;
                    in_run = 1;
                }
                if (append_content(&flat->text, node) < 0) {
                    return -1;
                }
            }
        }
        else if (IS_NODE(node)) {
            END_RUN();
            reading = 1;
        }
        else if (node->type != XINCLUDE_START && node->type != XINCLUDE_END) {
            reading = 0; /* lxml reads no further, either */
        }
        for (;;) { /* close the elements that end here */
            if (node->type == ELEMENT) {
                int kind = KIND_OF(flat->tag[current]);
                END_RUN();
                reading = 1;
                flat->end[current] = (int32_t)flat->n;
                flat->run_end[current] = (int32_t)flat->r;
                flat->block_end[current] = (int32_t)flat->m;
                border += (kind & BLOCK_LEVEL) != 0;
                hidden -= (kind & UNSEEN_TEXT) != 0;
                deep--;
                current = flat->parent[current];
            }
            if (node == root || node->next != NULL) {
                break;
            }
            node = node->parent;
        }
        if (node == root) {
            return 1;
        }
        node = node->next;
    }
#undef END_RUN
#undef KIND_OF
}
