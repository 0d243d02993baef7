/* The features of text blocks: wording, position, containers, neighbours and alike blocks, and the features of the whole
   page. */
#include "block_features.h"

/* ---- A block's own text and the elements that enclose it */

#define MAX_ENCLOSING 3

static uint32_t last_of(Span line)
{
    const unsigned char *at = line.end;
    while (at > line.begin && (*--at & 0xC0) == 0x80) {
    }
    return at < line.end ? next_character(&at, line.end) : 0;
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

static void enclose(const Features *f)
{
    const PageArrays *page = &f->page;
    Py_ssize_t i, m = page->m;
    int g;
    memset(f->enclosing, 0, sizeof(float) * GROUPS * (size_t)m);
    for (i = 0; i < page->n; i++) {
        if (page->block_end[i] > page->block_begin[i] && f->group[page->tag[i]] < GROUPS) {
            float *row = ROW(f->enclosing, f->group[page->tag[i]]);
            row[page->block_begin[i]]++;
            if (page->block_end[i] < m) {
                row[page->block_end[i]]--;
            }
        }
    }
    for (g = 0; g < GROUPS; g++) {
        float number = 0;
        for (i = 0; i < m; i++) {
            number += ROW(f->enclosing, g)[i];
            ROW(f->enclosing, g)[i] = number < MAX_ENCLOSING ? number : MAX_ENCLOSING;
        }
    }
}

void features_wording(const Features *f, Span lines, float *rows)
{
    static const int shared[] = {LINKED, EMPHASISED, UPPER_CASE, DIGITS, SYMBOLS, LETTERS};
    const PageArrays *page = &f->page;
    Py_ssize_t m = page->m, b;
    int k, behind = ENCLOSING + GROUPS;
    enclose(f);
    for (b = 0; b < m; b++) {
        double characters = larger((double)count_of(f, b, CHARACTERS), 1), words = larger((double)count_of(f, b, WORDS), 0.5);
        double commas = (double)count_of(f, b, COMMAS), ends = (double)count_of(f, b, SENTENCE_ENDS);
        Span line = next_line(&lines);
        uint32_t last = last_of(line);
        unsigned first = line.begin < line.end ? next_property(f->properties, &line) : 0;
        Py_ssize_t node = page->block_node[b];
        ROW(rows, 0)[b] = (float)log_of((double)count_of(f, b, CHARACTERS));
        ROW(rows, 1)[b] = (float)log_of((double)count_of(f, b, WORDS));
        ROW(rows, 2)[b] = (float)smaller(characters / words, 20);
        for (k = 0; k < 6; k++) {
            ROW(rows, 3 + k)[b] = (float)((double)count_of(f, b, shared[k]) / characters);
        }
        ROW(rows, 9)[b] = (float)smaller(commas / words, 2);
        ROW(rows, 10)[b] = (float)smaller(ends / words, 2);
        ROW(rows, 11)[b] = (float)log_of(commas);
        ROW(rows, 12)[b] = (float)log_of(ends);
        ROW(rows, 13)[b] = (first & IS_UPPER_CASE) != 0;
        ROW(rows, 14)[b] = (first & IS_DIGIT) != 0;
        ROW(rows, 15)[b] = (first & IS_ALPHANUMERIC) == 0;
        ROW(rows, 16)[b] = (float)ends_sentence(last);
        ROW(rows, 17)[b] = (float)is_comma(last);
        ROW(rows, behind)[b] = f->hidden[owner_of(page, b)];
        ROW(rows, behind + 1)[b] = (float)log_of(page->depth[owner_of(page, b)]);
        ROW(rows, behind + 2)[b] = (float)log_of(f->tag_sums[(Py_ssize_t)page->end[node] * COUNTED_SETS + IS_LINK]
                                                 - f->tag_sums[node * COUNTED_SETS + IS_LINK]);
        ROW(rows, behind + 3)[b] = (float)log_of(f->repeats[b]);
        ROW(rows, behind + 4)[b] = (float)((double)f->overlap[b] / larger(f->title, 1));
        ROW(rows, behind + 5)[b] = (float)((double)f->overlap[b] / words);
    }
}

/* ---- Its position in reading order */

#define NO_H1 (-9.0f)
#define NO_HEADING 8.0f
#define FARTHEST 8.0
#define MAX_H1 5
#define OUTSIDE (-1.0f)

static void write_h1(const Features *f, float *rows)
{
    Py_ssize_t m = f->page.m, b, longest = -1;
    int64_t before = 0, before_longest = 0;
    int number = 0;
    for (b = 0; b < m; b++) {
        if (is_enclosed(f, H1, b)) {
            number++;
            if (longest < 0 || count_of(f, b, CHARACTERS) > count_of(f, longest, CHARACTERS)) {
                longest = b;
                before_longest = before;
            }
        }
        before += count_of(f, b, CHARACTERS);
    }
    before = 0;
    for (b = 0; b < m; b++) {
        double blocks = (double)(b - longest), characters = (double)(before - before_longest);
        ROW(rows, 7)[b] = longest < 0 ? NO_H1 : (float)(blocks < 0 ? -log_of(-blocks) : log_of(blocks));
        ROW(rows, 8)[b] = longest < 0 ? NO_H1 : (float)(characters < 0 ? -log_of(-characters) : log_of(characters));
        ROW(rows, 9)[b] = (float)(number < MAX_H1 ? number : MAX_H1);
        before += count_of(f, b, CHARACTERS);
    }
}

void features_position(const Features *f, float *rows)
{
    Py_ssize_t m = f->page.m, b, heading = -1, last_long = -1, next_long = -1;
    double total = f->total[CHARACTERS], before = 0, long_text = 0;
    write_h1(f, rows);
    for (b = 0; b < m; b++) {
        double characters = (double)count_of(f, b, CHARACTERS);
        ROW(rows, 0)[b] = (float)(before / total);
        ROW(rows, 1)[b] = (float)((double)b / (double)m);
        ROW(rows, 2)[b] = (float)log_of(larger(total - before - characters, 0));
        ROW(rows, 3)[b] = (float)log_of(before);
        ROW(rows, 4)[b] = (float)(characters / total);
        ROW(rows, 5)[b] = (float)log_of((double)b);
        ROW(rows, 6)[b] = (float)log_of((double)(m - 1 - b));
        before += characters;
        heading = in_heading(f, b) ? b : heading;
        if (is_long(f, b)) {
            last_long = b;
            long_text += characters;
        }
        ROW(rows, 10)[b] = heading >= 0 ? (float)log_of((double)(b - heading)) : NO_HEADING;
        ROW(rows, 11)[b] = (float)(last_long >= 0 ? smaller(log_of((double)(b - last_long)), FARTHEST) : FARTHEST);
    }
    before = 0;
    for (b = 0; b < m; b++) {
        before += is_long(f, b) ? (double)count_of(f, b, CHARACTERS) : 0;
        ROW(rows, 13)[b] = (float)(before / larger(long_text, 1));
    }
    for (b = m - 1; b >= 0; b--) {
        next_long = is_long(f, b) ? b : next_long;
        ROW(rows, 12)[b] = (float)(next_long >= 0 ? smaller(log_of((double)(next_long - b)), FARTHEST) : FARTHEST);
    }
}

/* ---- The blocks around it in reading order */

enum { OF_NEIGHBOUR = 6, WINDOWS = 3 };

static void describe_neighbour(const Features *f, Py_ssize_t b, float *features)
{
    double words = (double)count_of(f, b, WORDS);
    features[0] = (float)log_of(words);
    features[1] = (float)((double)count_of(f, b, LINKED) / larger((double)count_of(f, b, CHARACTERS), 1));
    features[2] = (float)smaller((double)count_of(f, b, SENTENCE_ENDS) / larger(words, 0.5), 2);
    features[3] = (float)in_heading(f, b);
    features[4] = is_enclosed(f, P, b);
    features[5] = is_enclosed(f, LI, b);
}

void features_neighbours(const Features *f, float *rows)
{
    static const int windows[WINDOWS] = {5, 15, 40};
    Py_ssize_t m = f->page.m, b;
    int k, w;
    for (k = 0; m && k < OF_NEIGHBOUR; k++) {
        ROW(rows, k)[0] = ROW(rows, OF_NEIGHBOUR + k)[m - 1] = OUTSIDE;
    }
    for (b = 0; b < m; b++) {
        float features[OF_NEIGHBOUR];
        describe_neighbour(f, b, features);
        for (k = 0; k < OF_NEIGHBOUR; k++) {
            if (b + 1 < m) {
                ROW(rows, k)[b + 1] = features[k];
            }
            if (b > 0) {
                ROW(rows, OF_NEIGHBOUR + k)[b - 1] = features[k];
            }
        }
    }
    for (w = 0; w < WINDOWS; w++) {
        int64_t words = 0, linked = 0, ends = 0, characters = 0;
        Py_ssize_t begin = 0, end = 0;
        for (b = 0; b < m; b++) {
            for (; end < m && end <= b + windows[w]; end++) {
                words += count_of(f, end, WORDS);
                linked += count_of(f, end, LINKED);
                ends += count_of(f, end, SENTENCE_ENDS);
                characters += count_of(f, end, CHARACTERS);
            }
            for (; begin < b - windows[w]; begin++) {
                words -= count_of(f, begin, WORDS);
                linked -= count_of(f, begin, LINKED);
                ends -= count_of(f, begin, SENTENCE_ENDS);
                characters -= count_of(f, begin, CHARACTERS);
            }
            ROW(rows, 2 * OF_NEIGHBOUR + 3 * w)[b] = (float)log_of((double)words / (double)(end - begin));
            ROW(rows, 2 * OF_NEIGHBOUR + 3 * w + 1)[b] = (float)((double)linked / larger((double)characters, 1));
            ROW(rows, 2 * OF_NEIGHBOUR + 3 * w + 2)[b] = (float)((double)ends / larger((double)words, 1));
        }
    }
}

/* ---- Its containers */

static void describe_container(const Features *f, Py_ssize_t element, const int32_t *children, float *to)
{
    const PageArrays *page = &f->page;
    double held = page->block_end[element] - page->block_begin[element];
    double characters = (double)in_subtree(f, element, CHARACTERS), words = (double)in_subtree(f, element, WORDS);
    const int32_t *first = f->tag_sums + element * COUNTED_SETS;
    const int32_t *behind = f->tag_sums + (Py_ssize_t)page->end[element] * COUNTED_SETS;
    int k;
    to[0] = (float)log_of(characters);
    to[1] = (float)(characters / f->total[CHARACTERS]);
    to[2] = (float)((double)in_subtree(f, element, LINKED) / larger(characters, 1));
    to[3] = (float)smaller((double)in_subtree(f, element, SENTENCE_ENDS) / larger(words, 1), 1);
    to[4] = (float)smaller((double)in_subtree(f, element, COMMAS) / larger(words, 1), 1);
    to[5] = (float)log_of(held);
    to[6] = (float)log_of(words / larger(held, 1));
    to[7] = (float)log_of(f->alike[element]);
    to[8] = (float)log_of(children[element]);
    to[9] = (float)log_of(page->depth[element]);
    for (k = 0; k < COUNTED_SETS; k++) {
        to[10 + k] = (float)log_of(behind[k] - first[k]);
    }
}

/* Write the features of the containers of each block, level by level from the innermost outwards, which part of their blocks
   come before it, and the tags of the first levels. */
int features_containers(const Features *f, float *rows)
{
    static const int groups[CONTAINER_TAGS] = {P, DIV, LIST, LI, TABLE};
    const PageArrays *page = &f->page;
    Py_ssize_t n = page->n, m = page->m, i, b;
    size_t size = sizeof(float) * OF_CONTAINER + 2 * sizeof(int32_t) + 1; /* of an element */
    SCOPED(free_memory) char *memory = calloc((size_t)n * size + sizeof(int32_t) * (size_t)m + 1, 1);
    char *at = memory;
    float *described, *ranks = ROW(rows, LEVELS * OF_CONTAINER), *tags = ROW(ranks, LEVELS);
    int32_t *container_of, *children, *container; /* of elements, elements and blocks */
    uint8_t *is_described;
    int level, k;
    if (memory == NULL) {
        return -1;
    }
    CARVE(at, described, n * OF_CONTAINER);
    CARVE(at, container_of, n);
    CARVE(at, children, n);
    CARVE(at, container, m);
    CARVE(at, is_described, n);
    find_containers(page, container_of);
    for (i = 1; i < n; i++) {
        children[page->parent[i]]++;
    }
    for (level = 0; level < LEVELS; level++) {
        for (b = 0; b < m; b++) {
            int32_t inner = container[b], element = level == 0 ? page->block_node[b] : inner ? page->parent[inner] : 0;
            int32_t outer = container[b] = container_of[element], held = page->block_end[outer] - page->block_begin[outer];
            float *features = described + (Py_ssize_t)OF_CONTAINER * outer;
            if (!is_described[outer]) {
                describe_container(f, outer, children, features);
                is_described[outer] = 1;
            }
            for (k = 0; k < OF_CONTAINER; k++) {
                ROW(rows, level * OF_CONTAINER + k)[b] = features[k];
            }
            ROW(ranks, level)[b] = (float)((double)(b - page->block_begin[outer]) / (double)(held > 1 ? held : 1));
            for (k = 0; level < TAGGED_LEVELS && k < CONTAINER_TAGS; k++) {
                ROW(tags, level * CONTAINER_TAGS + k)[b] = f->group[page->tag[outer]] == groups[k];
            }
        }
    }
    return 0;
}

/* ---- Blocks in the same kind of place, such as the titles of a list of teasers */

typedef struct {
    int64_t number, characters, words, linked, ends, repeated;
    double squares;
    Py_ssize_t first, last;
} Place;

static void describe_place(const Place *place, double page_characters, double m, float *to)
{
    double number = (double)place->number, words = (double)place->words, mean = words / number;
    to[0] = (float)log_of(number);
    to[1] = (float)log_of(mean);
    to[2] = (float)((double)place->linked / larger((double)place->characters, 1));
    to[3] = (float)((double)place->ends / larger(words, 1));
    to[4] = (float)((double)place->characters / page_characters);
    to[5] = (float)((double)(place->last - place->first + 1) / number);
    to[6] = (float)((double)place->first / m);
    to[7] = (float)((double)place->last / m);
    to[8] = (float)log_of(sqrt(larger(place->squares / number - mean * mean, 0)));
    to[9] = (float)((double)place->repeated / number);
}

int features_places(const Features *f, float *rows)
{
    Py_ssize_t m = f->page.m, b;
    SCOPED(free_memory) Place *places = calloc((size_t)m + 1, sizeof(Place));
    int k;
    if (places == NULL) {
        return -1;
    }
    for (b = 0; b < m; b++) {
        Place *place = &places[f->place[b]];
        double words = (double)count_of(f, b, WORDS);
        place->number++;
        place->first = f->place[b];
        place->last = b;
        place->characters += count_of(f, b, CHARACTERS);
        place->words += count_of(f, b, WORDS);
        place->linked += count_of(f, b, LINKED);
        place->ends += count_of(f, b, SENTENCE_ENDS);
        place->squares += words * words;
        place->repeated += f->repeats[b] > 0;
    }
    for (b = 0; b < m; b++) {
        float features[OF_PLACE] = {0};
        if (f->place[b] == b) {
            describe_place(&places[b], f->total[CHARACTERS], (double)m, features);
        }
        for (k = 0; k < OF_PLACE; k++) {
            ROW(rows, k)[b] = f->place[b] == b ? features[k] : ROW(rows, k)[f->place[b]];
        }
    }
    return 0;
}

/* ---- The whole page */

void features_of_page(const Features *f, float *to)
{
    static const int counted[] = {IS_PARAGRAPH, IS_LINK, IS_IMAGE, IS_HEADING, IS_CONTROL,
                                  IS_TABLE, IS_ITEM, IS_PRE, IS_ARTICLE, IS_MAIN};
    static const int holders[] = {IS_ARTICLE, IS_MAIN, IS_NOSCRIPT};
    const PageArrays *page = &f->page;
    int64_t words = 0, longest = 0, alike = 0, number_long = 0, long_characters = 0;
    int64_t tags[IS_EMPHASIS + 1] = {0}, largest[IS_EMPHASIS + 1] = {0};
    Py_ssize_t i;
    int k;
    for (i = 0; i < page->m; i++) {
        int64_t own = count_of(f, i, WORDS);
        words += own;
        longest = own > longest ? own : longest;
        if (is_long(f, i)) {
            number_long++;
            long_characters += count_of(f, i, CHARACTERS);
        }
    }
    for (i = 0; i < page->n; i++) {
        uint32_t flags = f->flags[page->tag[i]];
        alike = f->alike[i] > alike ? f->alike[i] : alike;
        for (k = 0; flags >> k && k <= IS_EMPHASIS; k++) {
            if (HAS(flags, k)) {
                int64_t characters = in_subtree(f, i, CHARACTERS);
                tags[k]++;
                largest[k] = characters > largest[k] ? characters : largest[k];
            }
        }
    }
    to[0] = (float)log_of((double)words);
    to[1] = (float)log_of((double)page->m);
    to[2] = (float)log_of((double)page->n);
    to[3] = (float)log_of((double)longest);
    to[4] = (float)log_of((double)alike);
    to[5] = (float)log_of((double)number_long);
    for (k = 0; k < 10; k++) {
        to[6 + k] = (float)log_of((double)tags[counted[k]]);
    }
    to[16] = (float)(f->total[LINKED] / f->total[CHARACTERS]);
    to[17] = (float)(f->total[SENTENCE_ENDS] / f->total[WORDS]);
    to[18] = (float)(f->total[COMMAS] / f->total[WORDS]);
    to[19] = (float)((double)long_characters / f->total[CHARACTERS]);
    to[20] = (float)(f->total[WORDS] / larger((double)page->m, 1));
    for (k = 0; k < 3; k++) {
        to[21 + k] = (float)((double)largest[holders[k]] / f->total[CHARACTERS]);
    }
}
