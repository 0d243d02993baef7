/* The features of text blocks in the order of tamis.features.FEATURE_NAMES, written for a few blocks at a time: wording,
   position, containers, neighbours and alike blocks; and the features of the whole page. */
#include "block_features.h"

/* ---- A block's own text and the elements that enclose it */

static uint32_t last_of(Span line)
{
    const unsigned char *at = line.end;
    while (at > line.begin && (*--at & 0xC0) == 0x80) {
    }
    return at < line.end ? next_character(&at, line.end) : 0;
}

static const uint32_t sentence_ends[] = {'.', '!', '?', '"', ')', 0xBB, 0x61F, 0x6D4, 0x964, 0x2019, 0x201D, 0x2026, 0x3002,
                                         0xFF01, 0xFF1F, 0};
static const uint32_t commas[] = {',', ';', ':', 0x60C, 0x3001, 0xFF0C, 0xFF1A, 0xFF1B, 0};

/* Whether a character is among some; a zero ends them. */
static int is_among(uint32_t code, const uint32_t *characters)
{
    while (*characters && *characters != code) {
        characters++;
    }
    return *characters != 0;
}

enum { BORDERS = 5, FIRST_BORDER = 13 }; /* features of the first and last characters */

void read_borders(Features *f)
{
    Span lines = f->lines;
    Py_ssize_t b;
    for (b = 0; b < f->page.m; b++) {
        Span line = next_line(&lines);
        uint32_t last = last_of(line);
        unsigned first = line.begin < line.end ? next_property(&line) : 0;
        int is_upper = (first & IS_UPPER_CASE) != 0, is_number = (first & IS_DIGIT) != 0;
        int is_symbol = (first & IS_ALPHANUMERIC) == 0;
        f->blocks[b].borders = (uint8_t)(is_upper | is_number << 1 | is_symbol << 2 | is_among(last, sentence_ends) << 3
                                         | is_among(last, commas) << 4);
    }
}

static void write_wording(const Features *f, Py_ssize_t b, float *row)
{
    static const int shared[] = {EMPHASISED, UPPER_CASE, DIGITS, SYMBOLS, LETTERS};
    const PageArrays *page = &f->page;
    const Block *block = &f->blocks[b];
    double characters = larger((double)count_of(f, b, CHARACTERS), 1), words = larger((double)count_of(f, b, WORDS), 0.5);
    double commas = (double)count_of(f, b, COMMAS), ends = (double)count_of(f, b, SENTENCE_ENDS);
    Py_ssize_t node = page->block_node[b];
    uint64_t left;
    int k;
    row[0] = log_of((double)count_of(f, b, CHARACTERS));
    row[1] = block->known[0];
    row[2] = (float)smaller(characters / words, 20);
    row[3] = block->known[1];
    for (k = 0; k < 5; k++) {
        row[4 + k] = (float)((double)count_of(f, b, shared[k]) / characters);
    }
    row[9] = (float)smaller(commas / words, 2);
    row[10] = block->known[2];
    row[11] = log_of(commas);
    row[12] = log_of(ends);
    for (k = 0; k < BORDERS; k++) {
        row[FIRST_BORDER + k] = (float)(block->borders >> k & 1);
    }
    row += ENCLOSING;
    memset(row, 0, sizeof *row * GROUPS);
    for (left = block->enclosing; left; left &= ~((uint64_t)MAX_ENCLOSING << 2 * k)) { /* a few of the groups */
        k = __builtin_ctzll(left) / 2;
        row[k] = (float)ENCLOSING_OF(left, k);
    }
    row += GROUPS;
    row[0] = f->elements[f->blocks[b].owner].hidden;
    row[1] = log_of(page->depth[f->blocks[b].owner]);
    row[2] = log_of(f->tag_sums[(Py_ssize_t)page->end[node] * COUNTED_SETS + IS_LINK]
                                 - f->tag_sums[node * COUNTED_SETS + IS_LINK]);
    row[3] = log_of(block->repeats);
    row[4] = (float)((double)block->overlap / larger(f->title_words, 1));
    row[5] = (float)((double)block->overlap / words);
}

/* ---- Its position in reading order */

#define NO_H1 (-9.0f)
#define NO_HEADING 8.0f
#define FARTHEST 8.0
#define MAX_H1 5
#define OUTSIDE (-1.0f)

/* Characters before a block. */
static double text_before(const Features *f, Py_ssize_t b)
{
    return (double)(f->totals[(Py_ssize_t)f->page.block_run_begin[b] * COUNTS + CHARACTERS]);
}

/* The logarithm of a distance, below 0 backwards. */
static float signed_log(double distance)
{
    return distance < 0 ? -log_of(-distance) : log_of(distance);
}

static void write_position(const Features *f, Py_ssize_t b, float *row)
{
    const Block *block = &f->blocks[b];
    Py_ssize_t m = f->page.m;
    double total = f->total[CHARACTERS], before = text_before(f, b), characters = (double)count_of(f, b, CHARACTERS);
    row[0] = (float)(before / total);
    row[1] = (float)((double)b / (double)m);
    row[2] = log_of(larger(total - before - characters, 0));
    row[3] = log_of(before);
    row[4] = (float)(characters / total);
    row[5] = log_of((double)b);
    row[6] = log_of((double)(m - 1 - b));
    row[7] = f->h1 < 0 ? NO_H1 : signed_log((double)(b - f->h1));
    row[8] = f->h1 < 0 ? NO_H1 : signed_log(before - text_before(f, f->h1));
    row[9] = (float)(f->h1_blocks < MAX_H1 ? f->h1_blocks : MAX_H1);
    row[10] = block->last_heading < 0 ? NO_HEADING : log_of((double)(b - block->last_heading));
    row[11] = (float)(block->last_long < 0 ? FARTHEST : smaller(log_of((double)(b - block->last_long)), FARTHEST));
    row[12] = (float)(block->next_long < 0 ? FARTHEST : smaller(log_of((double)(block->next_long - b)), FARTHEST));
    row[13] = (float)((double)block->long_characters / larger((double)f->blocks[m - 1].long_characters, 1));
}

/* ---- The blocks around it in reading order */

enum { WINDOWS = 3, OF_WINDOW = 3 };

void describe_for_neighbours(Features *f)
{
    Py_ssize_t b;
    for (b = 0; b < f->page.m; b++) {
        float *to = f->blocks[b].known;
        double words = (double)count_of(f, b, WORDS);
        to[0] = log_of(words);
        to[1] = (float)((double)count_of(f, b, LINKED) / larger((double)count_of(f, b, CHARACTERS), 1));
        to[2] = (float)smaller((double)count_of(f, b, SENTENCE_ENDS) / larger(words, 0.5), 2);
        to[3] = (float)in_heading(f, b);
        to[4] = (float)is_enclosed(f, P, b);
        to[5] = (float)is_enclosed(f, LI, b);
    }
}

static void write_neighbours(const Features *f, Py_ssize_t b, float *row)
{
    static const int windows[WINDOWS] = {5, 15, 40};
    static const float outside[OF_NEIGHBOUR] = {OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE};
    Py_ssize_t m = f->page.m;
    int w;
    memcpy(row, b > 0 ? f->blocks[b - 1].known : outside, sizeof outside);
    memcpy(row + OF_NEIGHBOUR, b + 1 < m ? f->blocks[b + 1].known : outside, sizeof outside);
    row += 2 * OF_NEIGHBOUR;
    for (w = 0; w < WINDOWS; w++, row += OF_WINDOW) {
        Py_ssize_t begin = b < windows[w] ? 0 : b - windows[w], end = m - b <= windows[w] ? m : b + windows[w] + 1;
        double words = (double)count_between(f, begin, end, WORDS);
        double characters = (double)count_between(f, begin, end, CHARACTERS);
        row[0] = log_of(words / (double)(end - begin));
        row[1] = (float)((double)count_between(f, begin, end, LINKED) / larger(characters, 1));
        row[2] = (float)((double)count_between(f, begin, end, SENTENCE_ENDS) / larger(words, 1));
    }
}

/* ---- Its containers */

static void describe_container(const Features *f, Py_ssize_t element, float *to)
{
    const PageArrays *page = &f->page;
    double held = page->block_end[element] - page->block_begin[element];
    double characters = (double)in_subtree(f, element, CHARACTERS), words = (double)in_subtree(f, element, WORDS);
    const int32_t *first = f->tag_sums + element * COUNTED_SETS;
    const int32_t *after = f->tag_sums + (Py_ssize_t)page->end[element] * COUNTED_SETS;
    int k;
    to[0] = log_of(characters);
    to[1] = (float)(characters / f->total[CHARACTERS]);
    to[2] = (float)((double)in_subtree(f, element, LINKED) / larger(characters, 1));
    to[3] = (float)smaller((double)in_subtree(f, element, SENTENCE_ENDS) / larger(words, 1), 1);
    to[4] = (float)smaller((double)in_subtree(f, element, COMMAS) / larger(words, 1), 1);
    to[5] = log_of(held);
    to[6] = log_of(words / larger(held, 1));
    to[7] = log_of(f->elements[element].alike);
    to[8] = log_of(f->elements[element].children);
    to[9] = log_of(page->depth[element]);
    for (k = 0; k < COUNTED_SETS; k++) {
        to[10 + k] = log_of(after[k] - first[k]);
    }
}

/* Write the features of a block's containers, level by level from the innermost outwards, which part of their blocks come
   before it, and the tags of the first levels. */
static void write_containers(const Features *f, Py_ssize_t b, float *row)
{
    static const int groups[CONTAINER_TAGS] = {P, DIV, LIST, LI, TABLE};
    const PageArrays *page = &f->page;
    float *ranks = row + LEVELS * OF_CONTAINER, *tags = ranks + LEVELS;
    int32_t container = f->blocks[b].container;
    int level, k;
    for (level = 0; level < LEVELS; level++) {
        int32_t held = page->block_end[container] - page->block_begin[container];
        int32_t place = page->depth[container] % KEPT;
        float *features = f->described + OF_CONTAINER * place;
        if (f->described_container[place] != container) {
            describe_container(f, container, features);
            f->described_container[place] = container;
        }
        memcpy(row + level * OF_CONTAINER, features, sizeof *row * OF_CONTAINER);
        ranks[level] = (float)((double)(b - page->block_begin[container]) / (double)(held > 1 ? held : 1));
        for (k = 0; level < TAGGED_LEVELS && k < CONTAINER_TAGS; k++) {
            tags[level * CONTAINER_TAGS + k] = core_tables.tag_groups[page->tag[container]] == groups[k];
        }
        container = container ? f->container_of[page->parent[container]] : 0;
    }
}

/* ---- Blocks in the same kind of region, such as the titles of a list of teasers */

typedef struct {
    int64_t number, characters, words, linked, ends, repeated;
    double squares;
    Py_ssize_t first, last;
} Region;

static void describe_region(const Region *region, double page_characters, double m, float *to)
{
    double number = (double)region->number, words = (double)region->words, mean = words / number;
    to[0] = log_of(number);
    to[1] = log_of(mean);
    to[2] = (float)((double)region->linked / larger((double)region->characters, 1));
    to[3] = (float)((double)region->ends / larger(words, 1));
    to[4] = (float)((double)region->characters / page_characters);
    to[5] = (float)((double)(region->last - region->first + 1) / number);
    to[6] = (float)((double)region->first / m);
    to[7] = (float)((double)region->last / m);
    to[8] = log_of(sqrt(larger(region->squares / number - mean * mean, 0)));
    to[9] = (float)((double)region->repeated / number);
}

int describe_regions(Features *f, Py_ssize_t count)
{
    Py_ssize_t m = f->page.m, b, i;
    SCOPED(free_memory) Region *regions = calloc((size_t)count + 1, sizeof(Region));
    f->regions = malloc(sizeof(float) * OF_REGION * (size_t)count + 1);
    if (regions == NULL || f->regions == NULL) {
        return -1;
    }
    for (b = 0; b < m; b++) {
        Region *region = &regions[f->blocks[b].region];
        double words = (double)count_of(f, b, WORDS);
        region->first = region->number++ ? region->first : b;
        region->last = b;
        region->characters += count_of(f, b, CHARACTERS);
        region->words += count_of(f, b, WORDS);
        region->linked += count_of(f, b, LINKED);
        region->ends += count_of(f, b, SENTENCE_ENDS);
        region->squares += words * words;
        region->repeated += f->blocks[b].repeats > 0;
    }
    for (i = 0; i < count; i++) {
        describe_region(&regions[i], f->total[CHARACTERS], (double)m, f->regions + i * OF_REGION);
    }
    return 0;
}

void features_of_block(const Features *f, Py_ssize_t b, float *row)
{
    write_wording(f, b, row);
    write_position(f, b, row += OF_WORDING);
    write_containers(f, b, row += OF_POSITION);
    write_neighbours(f, b, row += OF_CONTAINERS);
    row += OF_NEIGHBOURS;
    memcpy(row, f->regions + (Py_ssize_t)f->blocks[b].region * OF_REGION, sizeof *row * OF_REGION);
    write_odds(f, b, row + OF_REGION);
}

/* ---- The whole page */

void features_of_page(const Features *f, double *to)
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
        uint32_t flags = sets_of(page->tag[i]);
        alike = f->elements[i].alike > alike ? f->elements[i].alike : alike;
        for (k = 0; flags >> k && k <= IS_EMPHASIS; k++) {
            if (HAS(flags, k)) {
                int64_t characters = in_subtree(f, i, CHARACTERS);
                tags[k]++;
                largest[k] = characters > largest[k] ? characters : largest[k];
            }
        }
    }
    to[0] = log_of((double)words);
    to[1] = log_of((double)page->m);
    to[2] = log_of((double)page->n);
    to[3] = log_of((double)longest);
    to[4] = log_of((double)alike);
    to[5] = log_of((double)number_long);
    for (k = 0; k < 10; k++) {
        to[6 + k] = log_of((double)tags[counted[k]]);
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
