/* Features of a block's own text and of the elements that enclose it. */
#include "features.h"

#define MAX_ENCLOSING 3

static uint32_t last_of(const Line *line)
{
    const unsigned char *begin = (const unsigned char *)line->begin, *end = begin + line->length, *at = end;
    while (at > begin && (*--at & 0xC0) == 0x80) {
    }
    return at < end ? next_character(&at, end) : 0;
}

static int ends_sentence(uint32_t code)
{
    switch (code) {
    case '.': case '!': case '?': case '"': case ')':
    case 0xBB: case 0x61F: case 0x6D4: case 0x964: case 0x2019: case 0x201D: case 0x2026: case 0x3002: case 0xFF01: case 0xFF1F:
        return 1;
    default:
        return 0;
    }
}

static int is_comma(uint32_t code)
{
    switch (code) {
    case ',': case ';': case ':': case 0x60C: case 0x3001: case 0xFF0C: case 0xFF1A: case 0xFF1B:
        return 1;
    default:
        return 0;
    }
}

void features_wording(const Features *f, float *rows)
{
    static const int shared[] = {LINKED, EMPHASISED, UPPER_CASE, DIGITS, SYMBOLS, LETTERS};
    const PageArrays *page = &f->page;
    Py_ssize_t m = page->m, b;
    int k, behind = 18 + GROUPS;
    for (b = 0; b < m; b++) {
        double characters = most((double)count_of(f, b, CHARACTERS), 1), words = most((double)count_of(f, b, WORDS), 0.5);
        double commas = (double)count_of(f, b, COMMAS), ends = (double)count_of(f, b, SENTENCE_ENDS);
        const Line *line = &f->lines[b];
        const unsigned char *begin = (const unsigned char *)line->begin;
        unsigned first = line->length ? property_of(f->properties, next_character(&begin, begin + line->length)) : 0;
        uint32_t last = last_of(line);
        Py_ssize_t node = page->block_node[b];
        ROW(rows, 0)[b] = (float)log_of((double)count_of(f, b, CHARACTERS));
        ROW(rows, 1)[b] = (float)log_of((double)count_of(f, b, WORDS));
        ROW(rows, 2)[b] = (float)least(characters / words, 20);
        for (k = 0; k < 6; k++) {
            ROW(rows, 3 + k)[b] = (float)((double)count_of(f, b, shared[k]) / characters);
        }
        ROW(rows, 9)[b] = (float)least(commas / words, 2);
        ROW(rows, 10)[b] = (float)least(ends / words, 2);
        ROW(rows, 11)[b] = (float)log_of(commas);
        ROW(rows, 12)[b] = (float)log_of(ends);
        ROW(rows, 13)[b] = (first & IS_UPPER_CASE) != 0;
        ROW(rows, 14)[b] = (first & IS_DIGIT) != 0;
        ROW(rows, 15)[b] = (first & IS_ALPHANUMERIC) == 0;
        ROW(rows, 16)[b] = (float)ends_sentence(last);
        ROW(rows, 17)[b] = (float)is_comma(last);
        ROW(rows, behind)[b] = f->hidden[f->owner[b]];
        ROW(rows, behind + 1)[b] = (float)log_of(page->depth[f->owner[b]]);
        ROW(rows, behind + 2)[b] = (float)log_of(f->tag_sums[(Py_ssize_t)page->end[node] * COUNTED_SETS + IS_LINK]
                                                 - f->tag_sums[node * COUNTED_SETS + IS_LINK]);
        ROW(rows, behind + 3)[b] = (float)log_of(f->repeats[b]);
        ROW(rows, behind + 4)[b] = (float)((double)f->overlap[b] / most(f->title, 1));
        ROW(rows, behind + 5)[b] = (float)((double)f->overlap[b] / words);
    }
    for (k = 0; k < GROUPS; k++) {
        for (b = 0; b < m; b++) {
            int32_t number = enclosing(f, k, b);
            ROW(rows, 18 + k)[b] = number < MAX_ENCLOSING ? number : MAX_ENCLOSING;
        }
    }
}
