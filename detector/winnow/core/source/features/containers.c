/* The containers around a block, and features of each level. */
#include "features.h"

/* The outermost of the elements that hold exactly the same blocks. */
static void find_containers(const PageArrays *page, int32_t *outermost)
{
    Py_ssize_t i;
    for (i = 0; i < page->n; i++) {
        int32_t parent = i ? page->parent[i] : 0;
        int same = page->block_end[parent] - page->block_begin[parent] == page->block_end[i] - page->block_begin[i];
        outermost[i] = i && same ? outermost[parent] : (int32_t)i;
    }
}

static void describe(const Features *f, Py_ssize_t element, const int32_t *children, float *to)
{
    const PageArrays *page = &f->page;
    double held = page->block_end[element] - page->block_begin[element];
    double characters = (double)in_subtree(f, element, CHARACTERS), words = (double)in_subtree(f, element, WORDS);
    const int32_t *first = f->tag_sums + element * COUNTED_SETS;
    const int32_t *behind = f->tag_sums + (Py_ssize_t)page->end[element] * COUNTED_SETS;
    int k;
    to[0] = (float)log_of(characters);
    to[1] = (float)(characters / f->total[CHARACTERS]);
    to[2] = (float)((double)in_subtree(f, element, LINKED) / most(characters, 1));
    to[3] = (float)least((double)in_subtree(f, element, SENTENCE_ENDS) / most(words, 1), 1);
    to[4] = (float)least((double)in_subtree(f, element, COMMAS) / most(words, 1), 1);
    to[5] = (float)log_of(held);
    to[6] = (float)log_of(words / most(held, 1));
    to[7] = (float)log_of(f->alike[element]);
    to[8] = (float)log_of(children[element]);
    to[9] = (float)log_of(page->depth[element]);
    for (k = 0; k < COUNTED_SETS; k++) {
        to[10 + k] = (float)log_of(behind[k] - first[k]);
    }
}

/* Write the rows, and int64[LEVELS, m] the containers of each block, innermost first. */
int features_containers(const Features *f, float *rows, int64_t *levels)
{
    static const int groups[] = {P, DIV, LIST, LI, TABLE};
    const PageArrays *page = &f->page;
    Py_ssize_t n = page->n, m = page->m, i, b, known = 0, capacity = 64;
    int32_t *outermost = malloc(sizeof(int32_t) * 3 * (size_t)n + 4), *children, *number;
    float *described = malloc(sizeof(float) * PER_LEVEL * (size_t)capacity);
    int level, k;
    if (outermost == NULL || described == NULL) {
        goto failed;
    }
    children = outermost + n;
    number = children + n;
    memset(children, 0, sizeof(int32_t) * (size_t)n);
    find_containers(page, outermost);
    for (i = 0; i < n; i++) {
        number[i] = -1;
        if (i) {
            children[page->parent[i]]++;
        }
    }
    for (b = 0; b < m; b++) {
        int32_t container = outermost[page->block_node[b]];
        for (level = 0; level < LEVELS; level++) {
            int32_t held = page->block_end[container] - page->block_begin[container];
            const float *from;
            if (number[container] < 0) {
                if (known == capacity) {
                    float *larger = realloc(described, sizeof(float) * PER_LEVEL * 2 * (size_t)capacity);
                    if (larger == NULL) {
                        goto failed;
                    }
                    described = larger;
                    capacity *= 2;
                }
                describe(f, container, children, described + PER_LEVEL * known);
                number[container] = (int32_t)known++;
            }
            from = described + (Py_ssize_t)PER_LEVEL * number[container];
            for (k = 0; k < PER_LEVEL; k++) {
                ROW(rows, level * PER_LEVEL + k)[b] = from[k];
            }
            ROW(rows, LEVELS * PER_LEVEL + level)[b]
                = (float)((double)(b - page->block_begin[container]) / (double)(held > 1 ? held : 1));
            for (k = 0; level < TAGGED_LEVELS && k < 5; k++) {
                ROW(rows, LEVELS * PER_LEVEL + LEVELS + 5 * level + k)[b] = f->group[page->tag[container]] == groups[k];
            }
            levels[level * m + b] = container;
            container = container ? outermost[page->parent[container]] : 0;
        }
    }
    free(described);
    free(outermost);
    return 0;
failed:
    free(described);
    free(outermost);
    return -1;
}
