/* Words and names as hashes, and the features that tables of log-odds make of them, for tamis.features. */
#include "block_features.h"

/* ---- The leading words of blocks, and which of them the title has */

#define HASHED_CHARACTERS 160
#define OVERLAP_CHARACTERS 400
#define MAX_TITLE_WORDS 64

static const unsigned char word_prefix[] = "word:", name_prefix[] = "name:"; /* of what is hashed; five characters */
#define PREFIX(prefix) core_crc32(0, prefix, prefix + 5)

/* The entry that a hash has in a table. */
#define ENTRY(hash) ((hash) & (TABLE_SIZE - 1))

/* The hash of a number: all are one word, and one part of a name. */
static uint32_t hash_number(uint32_t prefix)
{
    static const unsigned char number = '#';
    return core_crc32(prefix, &number, &number + 1);
}

typedef struct {
    Span words[MAX_TITLE_WORDS];
    Py_ssize_t seen[MAX_TITLE_WORDS]; /* line where each was last */
    int count;
    uint64_t lengths[256]; /* bits: lengths of the words that begin with the byte, modulo 64 */
} Title;

/* Read different words, one a line. */
static void read_title(Title *title, Span lines)
{
    while (lines.begin < lines.end && title->count < MAX_TITLE_WORDS) {
        Span word = next_line(&lines);
        title->words[title->count] = word;
        title->seen[title->count++] = -1;
        title->lengths[*word.begin] |= (uint64_t)1 << (word.end - word.begin) % 64;
    }
}

/* Whether the title has a word, and the line not yet had it. */
static int is_new_title_word(Title *title, Span word, Py_ssize_t line)
{
    Py_ssize_t length = word.end - word.begin;
    int k;
    if (!(title->lengths[*word.begin] >> length % 64 & 1)) {
        return 0;
    }
    for (k = 0; k < title->count; k++) {
        const Span *known = &title->words[k];
        if (known->end - known->begin == length && memcmp(known->begin, word.begin, (size_t)length) == 0) {
            int is_new = title->seen[k] != line;
            title->seen[k] = line;
            return is_new;
        }
    }
    return 0;
}

typedef struct {
    uint32_t prefix, number;
    Title title;
    uint16_t *hashes;
    size_t hashed;
} Scan;

/* The first characters of a text. */
static Span shortened(Span text, int characters)
{
    if (text.end - text.begin > characters) {
        const unsigned char *at = text.begin;
        while (at < text.end && (characters -= (*at & 0xC0) != 0x80) >= 0) {
            at++;
        }
        text.end = at;
    }
    return text;
}

static int are_digits(Span word)
{
    while (word.begin < word.end) {
        if (!(next_property(&word) & IS_DIGIT)) {
            return 0;
        }
    }
    return 1;
}

/* Read the words of a line, which there are none of as yet. */
static void scan_line(Scan *scan, Span text, Py_ssize_t line, int32_t *words, uint8_t *overlap)
{
    const unsigned char *at = text.begin;
    const unsigned char *end = shortened(text, OVERLAP_CHARACTERS).end, *hashed_end = shortened(text, HASHED_CHARACTERS).end;
    for (; at < end; at++) {
        const unsigned char *word = at;
        if (*words < MAX_WORDS && at < hashed_end) {
            uint32_t state = ~scan->prefix; /* a step for each byte: most words are too short for a loop of their own */
            for (; at < hashed_end && *at != ' '; at++) {
                state = crc32_step(state, *at);
            }
            if (at > word) {
                scan->hashes[scan->hashed++] = (uint16_t)ENTRY(are_digits((Span){word, at}) ? scan->number : ~state);
                ++*words;
            }
        }
        else if (!scan->title.count) {
            break;
        }
        while (at < end && *at != ' ') {
            at++;
        }
        *overlap += at > word && is_new_title_word(&scan->title, (Span){word, at}, line);
    }
}

void read_words(Features *f)
{
    Scan scan = {.prefix = PREFIX(word_prefix), .hashes = f->words};
    Span lines = f->lowered;
    Py_ssize_t b;
    scan.number = hash_number(scan.prefix);
    read_title(&scan.title, f->title);
    for (b = 0; b < f->page.m; b++) {
        f->words_per_block[b] = 0;
        scan_line(&scan, next_line(&lines), b, f->words_per_block + b, &f->blocks[b].overlap);
    }
    f->title_words = scan.title.count;
    f->word_count = (Py_ssize_t)scan.hashed;
}

/* ---- Parts of names of elements: "postMeta_12" has post, meta and a number */

enum { NO_PART, NUMBER, SMALL_LETTER, CAPITAL, OTHER_LETTER }; /* the last are those that are not ASCII */

/* Read one character of a text, which must not be empty, and return what it can be a part of. */
static int next_kind(Span *text)
{
    static const uint8_t of_ascii[0x80] = {['0' ... '9'] = NUMBER, ['a' ... 'z'] = SMALL_LETTER, ['A' ... 'Z'] = CAPITAL};
    unsigned property;
    if (*text->begin < 0x80) {
        return of_ascii[*text->begin++];
    }
    property = next_property(text);
    return property & IS_DIGIT ? NUMBER : property & IS_ALPHANUMERIC ? OTHER_LETTER : NO_PART;
}

/* Hash letters that are not ASCII in lower case, with room for them; 0, or -1 with an exception set. */
static int hash_letters(Span part, unsigned char *room, uint32_t *hash)
{
    PyGILState_STATE lock;
    PyObject *text, *lower;
    int failed;
    if (lower_ascii(room, part)) {
        *hash = core_crc32(*hash, room, room + (part.end - part.begin));
        return 0;
    }
    lock = PyGILState_Ensure();
    text = decoded(part);
    lower = text ? PyObject_CallMethod(text, "lower", NULL) : NULL;
    failed = lower == NULL || !in_text(lower, &part);
    *hash = failed ? 0 : core_crc32(*hash, part.begin, part.end);
    Py_XDECREF(lower);
    Py_XDECREF(text);
    PyGILState_Release(lock);
    return -failed;
}

/* Hash the distinct parts among the first of a name, with room for it; returns how many, or -1 with an exception set. */
static int hash_parts(Span name, unsigned char *room, uint32_t seed, uint32_t number, uint32_t *hashes)
{
    int parts = 0, different = 0, i;
    while (name.begin < name.end && parts < MAX_NAME_PARTS) {
        Span part = name, ahead;
        int kind = next_kind(&name);
        uint32_t hash, state = crc32_step(~seed, *part.begin | 0x20); /* of ASCII letters in lower case */
        if (kind == NO_PART) {
            continue;
        }
        ahead = name;
        if (kind == CAPITAL && ahead.begin < ahead.end && next_kind(&ahead) == SMALL_LETTER) {
            kind = SMALL_LETTER; /* after one capital */
        }
        for (ahead = name; ahead.begin < ahead.end && next_kind(&ahead) == kind; name = ahead) {
            state = crc32_step(state, *name.begin | 0x20);
        }
        part.end = name.begin;
        hash = kind == NUMBER ? number : kind == OTHER_LETTER ? seed : ~state;
        if (kind == OTHER_LETTER && hash_letters(part, room, &hash) < 0) {
            return -1;
        }
        parts++;
        for (i = 0; i < different && hashes[i] != hash; i++) {
        }
        if (i == different) {
            hashes[different++] = hash;
        }
    }
    return different;
}

/* The parts of a value. */
typedef struct {
    const uint32_t *begin;
    int32_t count, unread; /* 1 + the number of the value until they are read: no element with text may have it */
} Parts;

int read_names(Features *f)
{
    const PageArrays *page = &f->page;
    const AttributeValues *values = &f->page.values;
    SCOPED(free_memory) Parts *of_attribute = calloc((size_t)page->a + 1, sizeof(Parts));
    SCOPED(free_memory) uint32_t *hashes = malloc(sizeof(uint32_t) * MAX_NAME_PARTS * (size_t)values->d + 1);
    uint32_t *to = hashes, seed = PREFIX(name_prefix), number = hash_number(seed);
    Py_ssize_t count = 0, i;
    int32_t k, part;
    if (of_attribute == NULL || hashes == NULL) {
        return -1;
    }
    for (i = 0; i < values->d; i++) {
        int is_naming = ITEMS(f->arrays[USES], uint8_t)[values->name_of[i]] & IS_NAMING;
        of_attribute[values->first_index[i]].unread = is_naming ? (int32_t)i + 1 : 0;
    }
    for (i = 0; i < page->n; i++) {
        int32_t end = page->run_begin[i] < page->run_end[i] ? page->attribute_begin[i + 1] : 0;
        for (k = page->attribute_begin[i]; k < end; k++) {
            Parts *own = &of_attribute[page->first[k]];
            if (own->unread) {
                int found = hash_parts(value_of(values, own->unread - 1), f->stable, seed, number, to);
                if (found < 0) {
                    return -1;
                }
                *own = (Parts){to, found, 0};
                to += found;
            }
            for (part = 0; part < own->count; part++) {
                f->name_elements[count] = (int32_t)i;
                f->names[count++] = (uint16_t)ENTRY(own->begin[part]);
            }
        }
    }
    f->name_count = count;
    return 0;
}

/* ---- Features by tables of log-odds */

static void sum_words(Features *f)
{
    const float *odds = ITEMS(f->arrays[WORD_ODDS], float);
    const uint16_t *word = f->words;
    Py_ssize_t b;
    for (b = 0; b < f->page.m; b++) {
        int32_t number = f->words_per_block[b], left;
        double total = 0, lowest = 0, highest = 0;
        for (left = number; left > 0; left--) {
            double each = odds[*word++];
            total += each;
            lowest = smaller(each, lowest);
            highest = larger(each, highest);
        }
        f->blocks[b].words[0] = (float)total;
        f->blocks[b].words[1] = (float)(total / (double)(number > 1 ? number : 1));
        f->blocks[b].words[2] = (float)lowest;
        f->blocks[b].words[3] = (float)highest;
    }
}

void sum_odds(Features *f)
{
    const PageArrays *page = &f->page;
    const float *odds = ITEMS(f->arrays[NAME_ODDS], float);
    double path = 0;
    Py_ssize_t i;
    sum_words(f);
    for (i = 0; i < f->name_count; i++) { /* in a loop of their own, since most are far apart in memory */
        f->elements[f->name_elements[i]].own += odds[f->names[i]];
    }
    for (i = 0; i < page->n; i++) {
        Element *element = &f->elements[i];
        const Element *above = &f->elements[i ? page->parent[i] : 0];
        f->elements[page->end[i]].closed += element->own; /* there is one more than elements */
        path += element->own - element->closed;
        element->path = (float)path;
        element->lowest = (float)smaller(element->own, above->lowest);
        element->highest = (float)larger(element->own, above->highest);
    }
}

/* Write the log-odds of the words, then those of the path to its element, the lowest and highest on it, that of its own
   names, and those of the paths to the innermost containers. */
void write_odds(const Features *f, Py_ssize_t b, float *row)
{
    const Element *around = &f->elements[f->blocks[b].owner];
    int32_t container = f->blocks[b].container;
    int k;
    memcpy(row, f->blocks[b].words, sizeof *row * OF_WORDS);
    row += OF_WORDS;
    row[0] = around->path;
    row[1] = around->lowest;
    row[2] = around->highest;
    row[3] = (float)around->own;
    for (k = 0; k < NAME_LEVELS; k++) {
        row[4 + k] = f->elements[container].path;
        container = container ? f->container_of[f->page.parent[container]] : 0;
    }
}
