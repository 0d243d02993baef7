/* What features are computed from: counts of blocks, what encloses them, signatures, repeated texts. */
#include "features.h"

double features_logarithms[LOGARITHMS];

void core_prepare_features(void)
{
    int i;
    for (i = 0; i < LOGARITHMS; i++) {
        features_logarithms[i] = log1p(i);
    }
}

/* Rows of the text's totals: the fields of TextStatistics. */
enum { OF_CHARACTERS, OF_WORDS, OF_LETTERS, OF_DIGITS, OF_UPPER_CASE, OF_COMMAS, OF_SENTENCE_ENDS, OF_SYMBOLS };

static void count(Features *f, const int64_t *kinds, uint8_t *linked, uint8_t *emphasised)
{
    static const int row_of[COUNTS] = {OF_CHARACTERS, OF_WORDS, -1, -1, OF_UPPER_CASE, OF_DIGITS, OF_COMMAS,
                                       OF_SENTENCE_ENDS, OF_SYMBOLS, OF_LETTERS};
    const PageArrays *page = &f->page;
    Py_ssize_t i, r = page->r;
    int k;
    for (i = 0; i < page->n; i++) {
        uint32_t flags = f->flags[page->tag[i]];
        linked[i] = (uint8_t)(HAS(flags, IS_LINK) || (i && linked[page->parent[i]]));
        emphasised[i] = (uint8_t)(HAS(flags, IS_EMPHASIS) || (i && emphasised[page->parent[i]]));
        f->hidden[i] = (uint8_t)(f->hidden[i] || (i && f->hidden[page->parent[i]]));
        for (k = 0; k < COUNTED_SETS; k++) {
            f->tag_sums[(i + 1) * COUNTED_SETS + k] = f->tag_sums[i * COUNTED_SETS + k] + (int32_t)HAS(flags, k);
        }
    }
    for (i = 0; i < r; i++) {
        int64_t characters = kinds[i + 1] - kinds[i], *before = f->totals + i * COUNTS, *to = before + COUNTS;
        for (k = 0; k < COUNTS; k++) {
            if (row_of[k] >= 0) {
                to[k] = kinds[row_of[k] * (r + 1) + i + 1];
            }
        }
        to[LINKED] = before[LINKED] + (linked[page->run_node[i]] ? characters : 0);
        to[EMPHASISED] = before[EMPHASISED] + (emphasised[page->run_node[i]] ? characters : 0);
    }
    for (k = 0; k < COUNTS; k++) {
        f->total[k] = most((double)f->totals[r * COUNTS + k], 1);
    }
    for (i = 0; i < page->m; i++) {
        const int64_t *begin = f->totals + (Py_ssize_t)page->block_run_begin[i] * COUNTS;
        const int64_t *end = f->totals + (Py_ssize_t)page->block_run_end[i] * COUNTS;
        for (k = 0; k < COUNTS; k++) {
            f->counts[i * COUNTS + k] = end[k] - begin[k];
        }
        f->owner[i] = page->run_node[page->block_run_begin[i]];
    }
}

/* How many elements of each group of tags are around each block. */
static void enclose(Features *f)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, m = page->m;
    int g;
    for (i = 0; i < page->n; i++) {
        if (page->block_end[i] > page->block_begin[i]) {
            int32_t *row = f->enclosing + f->group[page->tag[i]] * m;
            row[page->block_begin[i]]++;
            if (page->block_end[i] < m) {
                row[page->block_end[i]]--;
            }
        }
    }
    for (g = 0; g <= GROUPS; g++) {
        int32_t *row = f->enclosing + g * m;
        for (i = 1; i < m; i++) {
            row[i] = row[i] + row[i - 1];
        }
    }
}

/* Count how many of the numbered things share each one's number. */
static int count_alike(const int32_t *number, Py_ssize_t count, int32_t numbers, int32_t *alike)
{
    int32_t *sizes = calloc((size_t)numbers + 1, sizeof(int32_t));
    Py_ssize_t i;
    if (sizes == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        sizes[number[i]]++;
    }
    for (i = 0; i < count; i++) {
        alike[i] = sizes[number[i]];
    }
    free(sizes);
    return 0;
}

static int compare(Features *f, uint64_t *keys, int32_t *number)
{
    const PageArrays *page = &f->page;
    int32_t numbers;
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        keys[i] = (uint64_t)(page->parent[i] + (int64_t)1) * ((uint64_t)1 << 41) + (uint64_t)f->signature[i];
    }
    if ((numbers = number_keys(keys, page->n, f->seed, number)) < 0
        || count_alike(number, page->n, numbers, f->alike) < 0) {
        return -1;
    }
    if ((numbers = number_lines(f->lowered, page->m, f->seed, number)) < 0
        || count_alike(number, page->m, numbers, f->repeats) < 0) {
        return -1;
    }
    for (i = 0; i < page->m; i++) {
        Py_ssize_t own = f->owner[i], parent = own ? page->parent[own] : 0, above = parent ? page->parent[parent] : 0;
        uint64_t around = (uint64_t)f->signature[own] * 31 + (uint64_t)f->signature[parent] * 7
                          + (uint64_t)f->signature[above] * 3 + (uint64_t)page->depth[own];
        f->repeats[i]--;
        keys[i] = around * 17 + (uint64_t)page->tag[page->block_node[i]];
    }
    f->places = number_keys(keys, page->m, f->seed, f->place);
    return f->places < 0 ? -1 : 0;
}

int features_measure(Features *f, const int64_t *kinds, const int32_t *first, const int32_t *attribute_begin,
                     const int64_t *class_signature, const uint8_t *hides)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, more = page->n > page->m ? page->n : page->m;
    uint64_t *keys = malloc((sizeof(uint64_t) + sizeof(int32_t)) * (size_t)more + 2 * (size_t)page->n + 8);
    int32_t *number = (int32_t *)(void *)(keys + more), k;
    uint8_t *linked = (uint8_t *)(number + more);
    int result;
    if (keys == NULL) {
        return -1;
    }
    for (i = 0; i < page->n; i++) {
        uint64_t signature = 0;
        for (k = attribute_begin[i]; k < attribute_begin[i + 1]; k++) {
            signature += (uint64_t)class_signature[first[k]];
            f->hidden[i] |= hides[first[k]];
        }
        f->signature[i] = (int64_t)(signature * 257 + (uint64_t)page->tag[i]);
    }
    count(f, kinds, linked, linked + page->n);
    enclose(f);
    result = compare(f, keys, number);
    free(keys);
    return result;
}
