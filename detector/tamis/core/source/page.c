/* The arrays of a page, borrowed and checked. */
#include "page.h"

#define PAGE "tamis.core.page"
#define ATTRIBUTES "tamis.core.attributes"

enum { PAGE_ARRAYS = 14, ATTRIBUTE_ARRAYS = 6 };

/* What a capsule of a page holds. */
typedef struct {
    Array arrays[PAGE_ARRAYS];
    PyObject *text, *attributes;
    PageArrays page;
} CheckedPage;

/* What a capsule of attributes holds. */
typedef struct {
    Array arrays[ATTRIBUTE_ARRAYS];
    AttributeValues values;
} CheckedAttributes;

int are_below(const Array *numbers, Py_ssize_t n)
{
    Py_ssize_t i;
    for (i = 0; i < numbers->length; i++) {
        int64_t number = numbers->view.itemsize == 8 ? ITEMS(*numbers, int64_t)[i] : ITEMS(*numbers, int32_t)[i];
        if (number < 0 || number >= n) {
            return 0;
        }
    }
    return 1;
}

/* The checks below have no branches, so that a compiler makes them fast. */

int are_slices(const int32_t *begin, const int32_t *end, Py_ssize_t count, Py_ssize_t length)
{
    Py_ssize_t i;
    int32_t last = (int32_t)length;
    int wrong = 0;
    for (i = 0; i < count; i++) {
        wrong |= (begin[i] < 0) | (begin[i] > end[i]) | (end[i] > last);
    }
    return !wrong;
}

static int are_inside(const int32_t *numbers, Py_ssize_t count, Py_ssize_t length)
{
    Py_ssize_t i;
    int32_t end = (int32_t)length;
    int wrong = 0;
    for (i = 0; i < count; i++) {
        wrong |= (numbers[i] < 0) | (numbers[i] >= end);
    }
    return !wrong;
}

static int is_sound(const PageArrays *page)
{
    int32_t i, n = (int32_t)page->n;
    int wrong = 0;
    for (i = 0; i < n; i++) {
        wrong |= (page->tag[i] < 0) | (page->tag[i] >= core_tables.tags) | (page->parent[i] >= i)
                 | (page->parent[i] < -(i == 0)) | (page->end[i] <= i) | (page->end[i] > n) | (page->depth[i] < 0);
    }
    for (i = 0; i < (int32_t)page->m; i++) {
        wrong |= page->block_run_begin[i] == page->block_run_end[i];
    }
    return !wrong && page->values.n == page->n && are_slices(page->run_begin, page->run_end, page->n, page->r)
           && are_slices(page->block_begin, page->block_end, page->n, page->m)
           && are_slices(page->block_run_begin, page->block_run_end, page->m, page->r)
           && are_inside(page->run_node, page->r, page->n) && are_inside(page->block_node, page->m, page->n);
}

static int read_page(PyObject *tuple, CheckedPage *checked)
{
    static const Py_ssize_t sizes[PAGE_ARRAYS] = {2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 1};
    const Array *arrays = checked->arrays;
    PageArrays *page = &checked->page;
    const int32_t **const pointers[] = {
        &page->parent, &page->end, &page->depth, &page->run_begin, &page->run_end, &page->block_begin, &page->block_end,
        &page->run_node, &page->block_node, &page->block_run_begin, &page->block_run_end,
    };
    int k;
    if (!arrays_borrow(tuple, checked->arrays, sizes, PAGE_ARRAYS)) {
        return 0;
    }
    page->n = arrays[0].length;
    page->r = arrays[8].length;
    page->m = arrays[9].length;
    page->a = page->values.a;
    page->attribute_begin = page->values.of_element;
    page->first = page->values.first;
    page->tag = ITEMS(arrays[0], int16_t);
    for (k = 1; k < 12; k++) {
        if (!check_arrays(arrays[k].length == (k < 8 ? page->n : k == 8 ? page->r : page->m))) {
            return 0;
        }
        *pointers[k - 1] = ITEMS(arrays[k], int32_t);
    }
    page->run_offset = ITEMS(arrays[12], int64_t);
    page->is_nonblank = ITEMS(arrays[13], uint8_t);
    return check_arrays(arrays[12].length == page->r + 1 && arrays[13].length == page->r && is_sound(page));
}

static void free_page(PyObject *capsule)
{
    CheckedPage *checked = PyCapsule_GetPointer(capsule, PAGE);
    arrays_release(checked->arrays, PAGE_ARRAYS);
    Py_XDECREF(checked->text);
    Py_XDECREF(checked->attributes);
    free(checked);
}

/* checked_page(the arrays of a page, in the order of tamis.page.Page.arrays, text as UTF-8, attributes)
   -> capsule, which holds them */
PyObject *core_checked_page(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    CheckedPage *checked = calloc(1, sizeof *checked);
    PyObject *capsule = checked ? PyCapsule_New(checked, PAGE, free_page) : PyErr_NoMemory(), *arrays;
    if (capsule == NULL) {
        free(checked);
    }
    else if (!PyArg_ParseTuple(arguments, "OSO", &arrays, &checked->text, &checked->attributes)) {
        checked->text = checked->attributes = NULL; /* borrowed */
        Py_CLEAR(capsule);
    }
    else {
        Py_INCREF(checked->text);
        Py_INCREF(checked->attributes);
        if (!in_bytes(checked->text, &checked->page.text) || !in_values(checked->attributes, &checked->page.values)
            || !read_page(arrays, checked)) {
            Py_CLEAR(capsule);
        }
    }
    return capsule;
}

int in_page(PyObject *capsule, void *page)
{
    const CheckedPage *checked = PyCapsule_GetPointer(capsule, PAGE);
    if (checked != NULL) {
        *(PageArrays *)page = checked->page;
    }
    return checked != NULL
           && check_tables(core_tables.tag_sets != NULL && core_tables.tag_groups != NULL && core_tables.tag_tokens != NULL
                           && core_tables.character_properties != NULL && core_tables.character_tokens != NULL);
}

void find_containers(const PageArrays *page, int32_t *container)
{
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        int32_t parent = i ? page->parent[i] : 0;
        int same = page->block_end[parent] - page->block_begin[parent] == page->block_end[i] - page->block_begin[i];
        container[i] = i && same ? container[parent] : (int32_t)i;
    }
}

static int read_attributes(PyObject *tuple, CheckedAttributes *checked)
{
    static const Py_ssize_t sizes[ATTRIBUTE_ARRAYS] = {1, 8, 4, 4, 4, 4};
    const Array *arrays = checked->arrays;
    AttributeValues *values = &checked->values;
    Py_ssize_t i;
    int32_t name = -1;
    int wrong = 0;
    if (!arrays_borrow(tuple, checked->arrays, sizes, ATTRIBUTE_ARRAYS)) {
        return 0;
    }
    *values = (AttributeValues){
        .n = arrays[4].length - 1, .a = arrays[5].length, .d = arrays[2].length, .data = ITEMS(arrays[0], unsigned char),
        .begin = ITEMS(arrays[1], int64_t), .name_of = ITEMS(arrays[2], int32_t), .first_index = ITEMS(arrays[3], int32_t),
        .of_element = ITEMS(arrays[4], int32_t), .first = ITEMS(arrays[5], int32_t),
    };
    if (!check_arrays(arrays[1].length == values->d + 1 && arrays[3].length == values->d && values->n >= 0)) {
        return 0;
    }
    for (i = 0; i < values->d; i++) {
        wrong |= (values->begin[i] > values->begin[i + 1]) | (values->name_of[i] < 0);
        name = values->name_of[i] > name ? values->name_of[i] : name;
    }
    values->names = (Py_ssize_t)name + 1;
    return check_arrays(!wrong && values->begin[0] >= 0 && values->begin[values->d] <= arrays[0].length
                        && values->of_element[0] == 0 && values->of_element[values->n] == values->a
                        && are_slices(values->of_element, values->of_element + 1, values->n, values->a)
                        && are_inside(values->first_index, values->d, values->a)
                        && are_inside(values->first, values->a, values->a));
}

static void free_attributes(PyObject *capsule)
{
    CheckedAttributes *checked = PyCapsule_GetPointer(capsule, ATTRIBUTES);
    arrays_release(checked->arrays, ATTRIBUTE_ARRAYS);
    free(checked);
}

/* checked_attributes(values: bytes, value_begin: int64[d + 1], name_of: int32[d], first_index: int32[d], begin: int32[n + 1],
                      first: int32[a]) -> capsule, which holds them */
PyObject *core_checked_attributes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    CheckedAttributes *checked = calloc(1, sizeof *checked);
    PyObject *capsule = checked ? PyCapsule_New(checked, ATTRIBUTES, free_attributes) : PyErr_NoMemory();
    if (capsule == NULL) {
        free(checked);
    }
    else if (!read_attributes(arguments, checked)) {
        Py_CLEAR(capsule);
    }
    return capsule;
}

int in_values(PyObject *capsule, void *values)
{
    const CheckedAttributes *checked = PyCapsule_GetPointer(capsule, ATTRIBUTES);
    if (checked != NULL) {
        *(AttributeValues *)values = checked->values;
    }
    return checked != NULL;
}
