/* Words and names as hashes, and the features that tables of log-odds make of them, for winnow.features.tokens. */
#include "core.h"

/* ---- The leading words of blocks, and which of them the title has */

#define HASHED_CHARACTERS 160
#define HASHED_WORDS 16
#define OVERLAP_CHARACTERS 400

typedef struct {
    const unsigned char *begin;
    size_t length;
    Py_ssize_t line; /* where it was seen last */
} TitleWord;

typedef struct {
    TitleWord *words;
    size_t count, mask;
    uint32_t *slots; /* 1 + number of the word */
    uint8_t begins[256]; /* whether a word begins with the byte */
} Title;

static size_t slot_of(const Title *title, const unsigned char *word, size_t length)
{
    size_t at = core_crc32(0, word, word + length) & title->mask;
    uint32_t found;
    while ((found = title->slots[at]) != 0
           && (title->words[found - 1].length != length || memcmp(title->words[found - 1].begin, word, length) != 0)) {
        at = (at + 1) & title->mask;
    }
    return at;
}

/* Read words, each followed by a line feed; 0, or -1 without memory. */
static int read_title(Title *title, const unsigned char *at, Py_ssize_t size)
{
    const unsigned char *end = at + size, *word = at;
    size_t count = 0, slots = 16;
    Py_ssize_t i;
    for (i = 0; i < size; i++) {
        count += at[i] == '\n';
    }
    while (slots < 2 * count) {
        slots *= 2;
    }
    title->mask = slots - 1;
    title->words = malloc((count + 1) * sizeof(TitleWord));
    title->slots = calloc(slots, sizeof(uint32_t));
    if (title->words == NULL || title->slots == NULL) {
        return -1;
    }
    for (; at < end; at++) {
        if (*at == '\n') {
            size_t length = (size_t)(at - word), slot = slot_of(title, word, length);
            if (title->slots[slot] == 0) {
                title->words[title->count].begin = word;
                title->words[title->count].length = length;
                title->words[title->count].line = -1;
                title->slots[slot] = (uint32_t)++title->count;
                title->begins[*word] = 1;
            }
            word = at + 1;
        }
    }
    return 0;
}

typedef struct {
    const uint8_t *properties;
    uint32_t prefix, number;
    Title title;
    uint32_t *hashes; /* HASHED_WORDS for each line */
    size_t hashed;
} Scan;

/* Read one line; `at` is left behind its line feed, or at the end. */
static void scan_line(Scan *scan, const unsigned char **place, const unsigned char *end, Py_ssize_t line, int32_t *words,
                      int32_t *overlap)
{
    const unsigned char *at = *place, *word = at;
    int characters = 0, digits = 1, hashed = 0, hashing = 1;
    int last = scan->title.count ? OVERLAP_CHARACTERS : HASHED_CHARACTERS;
    for (;;) {
        int over = at >= end || *at == '\n' || characters == last;
        int border = over || *at == ' ';
        if (hashing && (border || characters == HASHED_CHARACTERS)) {
            if (at > word) {
                scan->hashes[scan->hashed++] = digits ? scan->number : core_crc32(scan->prefix, word, at);
                hashed++;
            }
            hashing = hashed < HASHED_WORDS && characters < HASHED_CHARACTERS;
        }
        if (border) {
            if (at > word && scan->title.count && scan->title.begins[*word]) {
                uint32_t found = scan->title.slots[slot_of(&scan->title, word, (size_t)(at - word))];
                if (found != 0 && scan->title.words[found - 1].line != line) {
                    scan->title.words[found - 1].line = line;
                    ++*overlap;
                }
            }
            if (over || (!hashing && !scan->title.count)) {
                break;
            }
            word = ++at;
            digits = 1;
        }
        else if (*at < 0x80) {
            digits &= (scan->properties[*at++] & IS_DIGIT) != 0;
        }
        else {
            digits &= (property_of(scan->properties, next_character(&at, end)) & IS_DIGIT) != 0;
        }
        characters++;
    }
    *words = hashed;
    if (at < end && (at = memchr(at, '\n', (size_t)(end - at))) == NULL) {
        at = end;
    }
    *place = at < end ? at + 1 : end;
}

/* leading_words(lines, title, properties, prefix, number, words: int32[m], overlap: int32[m]) -> uint32 hashes

   `lines` are m lines of words with single spaces between them; `title` different words with a line feed behind each. */
PyObject *core_leading_words(PyObject *module, PyObject *arguments)
{
    PyObject *lines, *title, *properties, *words, *overlap, *result = NULL;
    Array table = {0}, counts = {0}, found = {0};
    Scan scan;
    const char *data, *named;
    Py_ssize_t size, named_size;
    unsigned int prefix, number;
    (void)module;
    memset(&scan, 0, sizeof scan);
    if (!PyArg_ParseTuple(arguments, "UUOIIOO", &lines, &title, &properties, &prefix, &number, &words, &overlap)
        || (data = PyUnicode_AsUTF8AndSize(lines, &size)) == NULL
        || (named = PyUnicode_AsUTF8AndSize(title, &named_size)) == NULL) {
        return NULL;
    }
    if (array_borrow(&table, properties, 1, 0, "properties") < 0 || array_borrow(&counts, words, 4, 1, "words") < 0
        || array_borrow(&found, overlap, 4, 1, "overlap") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS || counts.length != found.length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    scan.properties = ITEMS(table, uint8_t);
    scan.prefix = prefix;
    scan.number = number;
    scan.hashes = malloc((size_t)counts.length * HASHED_WORDS * sizeof(uint32_t) + 1);
    if (scan.hashes == NULL || read_title(&scan.title, (const unsigned char *)named, named_size) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    {
        const unsigned char *at = (const unsigned char *)data, *end = at + size;
        Py_ssize_t line;
        for (line = 0; line < counts.length; line++) {
            ITEMS(found, int32_t)[line] = 0;
            scan_line(&scan, &at, end, line, ITEMS(counts, int32_t) + line, ITEMS(found, int32_t) + line);
        }
    }
    Py_END_ALLOW_THREADS
    result = PyByteArray_FromStringAndSize((const char *)scan.hashes, (Py_ssize_t)(scan.hashed * sizeof(uint32_t)));
done:
    free(scan.hashes);
    free(scan.title.words);
    free(scan.title.slots);
    array_release(&found);
    array_release(&counts);
    array_release(&table);
    return result;
}

/* ---- Parts of names of elements. Names that are not ASCII are left to Python, which knows the letters of all scripts */

#define MAX_PARTS 12

static int is_ascii(const unsigned char *at, const unsigned char *end)
{
    unsigned char all = 0;
    while (at < end) {
        all |= *at++;
    }
    return all < 0x80;
}

#define IS_LOWER(c) ((c) >= 'a' && (c) <= 'z')
#define IS_UPPER(c) ((c) >= 'A' && (c) <= 'Z')
#define IS_NUMBER(c) ((c) >= '0' && (c) <= '9')

/* Hash the distinct parts among the first 12 of a name; returns how many. */
static int divide(const unsigned char *at, const unsigned char *end, uint32_t seed, uint32_t number, uint32_t *hashes)
{
    int parts = 0, different = 0, i;
    while (at < end && parts < MAX_PARTS) {
        const unsigned char *begin = at;
        uint32_t hash;
        if (IS_NUMBER(*at)) {
            while (at < end && IS_NUMBER(*at)) {
                at++;
            }
            hash = number;
        }
        else if (IS_LOWER(*at) || IS_UPPER(*at)) {
            unsigned char lower[64];
            uint32_t crc = seed;
            at++;
            if (IS_LOWER(*begin) || (at < end && IS_LOWER(*at))) { /* at most one capital, then small letters */
                while (at < end && IS_LOWER(*at)) {
                    at++;
                }
            }
            else {
                while (at < end && IS_UPPER(*at)) {
                    at++;
                }
            }
            while (begin < at) {
                size_t length = 0;
                while (begin < at && length < sizeof lower) {
                    lower[length++] = *begin++ | 0x20;
                }
                crc = core_crc32(crc, lower, lower + length);
            }
            hash = crc;
        }
        else {
            at++;
            continue;
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

/* Total bytes of the chosen values, or -1 if one is out of range. */
static int all_inside(const Array *begins, const Array *chosen, Py_ssize_t size)
{
    Py_ssize_t i;
    for (i = 0; i < chosen->length; i++) {
        int64_t at = ITEMS(*chosen, int64_t)[i];
        if (at < 0 || at >= begins->length - 1 || ITEMS(*begins, int64_t)[at] < 0
            || ITEMS(*begins, int64_t)[at + 1] < ITEMS(*begins, int64_t)[at] || ITEMS(*begins, int64_t)[at + 1] > size) {
            return 0;
        }
    }
    return 1;
}

/* name_parts(data, begin: int64[d + 1], chosen: int64[k], seed, number, parts: int32[k]) -> uint32 hashes

   parts: how many of them each chosen value has, -1 where it is not ASCII. */
PyObject *core_name_parts(PyObject *module, PyObject *arguments)
{
    PyObject *data, *begin, *chosen, *parts, *result = NULL;
    Array bytes = {0}, begins = {0}, choice = {0}, counts = {0};
    unsigned int seed, number;
    uint32_t *hashes = NULL;
    size_t used = 0;
    Py_ssize_t i;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOIIO", &data, &begin, &chosen, &seed, &number, &parts)) {
        return NULL;
    }
    if (array_borrow(&bytes, data, 1, 0, "data") < 0 || array_borrow(&begins, begin, 8, 0, "begin") < 0
        || array_borrow(&choice, chosen, 8, 0, "chosen") < 0 || array_borrow(&counts, parts, 4, 1, "parts") < 0) {
        goto done;
    }
    if (counts.length != choice.length || !all_inside(&begins, &choice, bytes.length)) {
        PyErr_SetString(PyExc_ValueError, "values outside the data");
        goto done;
    }
    if ((hashes = malloc(sizeof(uint32_t) * MAX_PARTS * (size_t)choice.length + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (i = 0; i < choice.length; i++) {
        const int64_t *bounds = ITEMS(begins, int64_t) + ITEMS(choice, int64_t)[i];
        const unsigned char *at = ITEMS(bytes, unsigned char) + bounds[0], *end = ITEMS(bytes, unsigned char) + bounds[1];
        int found = is_ascii(at, end) ? divide(at, end, seed, number, hashes + used) : -1;
        ITEMS(counts, int32_t)[i] = found;
        used += found > 0 ? (size_t)found : 0;
    }
    Py_END_ALLOW_THREADS
    result = PyByteArray_FromStringAndSize((const char *)hashes, (Py_ssize_t)(used * sizeof(uint32_t)));
done:
    free(hashes);
    array_release(&counts);
    array_release(&choice);
    array_release(&begins);
    array_release(&bytes);
    return result;
}

/* class_signatures(data, begin: int64[d + 1], chosen: int64[k], signatures: int64[k])

   Of each chosen value 1 + the checksum, with "#" for every number. */
PyObject *core_class_signatures(PyObject *module, PyObject *arguments)
{
    enum { DATA, BEGIN, CHOSEN, SIGNATURES, ARRAYS };
    static const char *const names[ARRAYS] = {"data", "begin", "chosen", "signatures"};
    static const int sizes[ARRAYS] = {1, 8, 8, 8};
    static const unsigned char number = '#';
    PyObject *o[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Py_ssize_t i;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO", &o[DATA], &o[BEGIN], &o[CHOSEN], &o[SIGNATURES])
        || arrays_borrow(arrays, o, sizes, names, ARRAYS, SIGNATURES) < 0) {
        goto done;
    }
    if (arrays[SIGNATURES].length != arrays[CHOSEN].length
        || !all_inside(&arrays[BEGIN], &arrays[CHOSEN], arrays[DATA].length)) {
        PyErr_SetString(PyExc_ValueError, "values outside the data");
        goto done;
    }
    for (i = 0; i < arrays[CHOSEN].length; i++) {
        const int64_t *bounds = ITEMS(arrays[BEGIN], int64_t) + ITEMS(arrays[CHOSEN], int64_t)[i];
        const unsigned char *data = ITEMS(arrays[DATA], unsigned char), *at = data + bounds[0], *end = data + bounds[1];
        uint32_t checksum = 0;
        while (at < end) {
            const unsigned char *begin = at;
            while (at < end && !(*at >= '0' && *at <= '9')) {
                at++;
            }
            checksum = core_crc32(checksum, begin, at);
            if (at < end) {
                checksum = core_crc32(checksum, &number, &number + 1);
            }
            while (at < end && *at >= '0' && *at <= '9') {
                at++;
            }
        }
        ITEMS(arrays[SIGNATURES], int64_t)[i] = 1 + (int64_t)checksum;
    }
    result = Py_NewRef(Py_None);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}

/* ---- Features by tables of log-odds */

/* Write total, mean, lowest and highest log-odds of the words of each block; 0, or -1 if an index is out of range. */
static int write_words(const Array *blocks, const Array *words, const Array *odds, float *rows, Py_ssize_t m)
{
    const int64_t *block = ITEMS(*blocks, int64_t), *word = ITEMS(*words, int64_t);
    Py_ssize_t k = 0, b;
    for (b = 0; b < m; b++) {
        double total = 0, lowest = 0, highest = 0;
        Py_ssize_t begin = k;
        for (; k < words->length && block[k] == b; k++) {
            double each;
            if (word[k] < 0 || word[k] >= odds->length) {
                return -1;
            }
            each = ITEMS(*odds, float)[word[k]];
            total += each;
            lowest = each < lowest ? each : lowest;
            highest = each > highest ? each : highest;
        }
        rows[b] = (float)total;
        rows[m + b] = (float)(total / (double)(k > begin ? k - begin : 1));
        rows[2 * m + b] = (float)lowest;
        rows[3 * m + b] = (float)highest;
    }
    return k == words->length ? 0 : -1;
}

/* word_features(word_block: int64[w], word: int64[w], odds: float32[size], rows: float32[4, m]); a block's words stand
   together, in the order of the blocks. */
PyObject *core_word_features(PyObject *module, PyObject *arguments)
{
    enum { BLOCK, WORD, ODDS, ROWS, ARRAYS };
    static const char *const names[ARRAYS] = {"word_block", "word", "odds", "rows"};
    static const int sizes[ARRAYS] = {8, 8, 4, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO", &objects[0], &objects[1], &objects[2], &objects[3])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, ROWS) < 0) {
        goto done;
    }
    if (arrays[BLOCK].length != arrays[WORD].length || arrays[ROWS].length % 4
        || write_words(&arrays[BLOCK], &arrays[WORD], &arrays[ODDS], ITEMS(arrays[ROWS], float), arrays[ROWS].length / 4)
               < 0) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of words");
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    arrays_release(arrays, ARRAYS);
    return result;
}

/* By element: log-odds of its own names, their sum from the root to it, and the lowest and highest on this path. */
typedef struct {
    double own, closed, path, lowest, highest;
} Names;

static void follow_paths(Names *names, const int32_t *parent, const int32_t *end, Py_ssize_t n)
{
    double path = 0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        const Names *above = &names[parent[i] < 0 ? 0 : parent[i]];
        double own = names[i].own;
        names[end[i]].closed += own; /* there is one more than elements */
        path += own - names[i].closed;
        names[i].path = path;
        names[i].lowest = own < 0 ? own : 0;
        names[i].highest = own > 0 ? own : 0;
        names[i].lowest = above->lowest < names[i].lowest ? above->lowest : names[i].lowest;
        names[i].highest = above->highest > names[i].highest ? above->highest : names[i].highest;
    }
}

/* name_features(name_element: int64[k], name: int64[k], odds: float32[size], parent: int32[n], end: int32[n],
                 owner: int32[m], levels: int64[l, m], rows: float32[4 + l, m]) */
PyObject *core_name_features(PyObject *module, PyObject *arguments)
{
    enum { ELEMENT, NAME, ODDS, PARENT, END, OWNER, OF_LEVELS, ROWS, ARRAYS };
    static const char *const names_of[ARRAYS] = {"name_element", "name", "odds", "parent", "end", "owner", "levels", "rows"};
    static const int sizes[ARRAYS] = {8, 8, 4, 4, 4, 4, 8, 4};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Names *names = NULL;
    const int32_t *parent, *end, *owner;
    const int64_t *element, *entry, *level;
    float *rows;
    Py_ssize_t n, m, i;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names_of, ARRAYS, ROWS) < 0) {
        goto done;
    }
    n = arrays[PARENT].length;
    m = arrays[OWNER].length;
    element = ITEMS(arrays[ELEMENT], int64_t);
    entry = ITEMS(arrays[NAME], int64_t);
    parent = ITEMS(arrays[PARENT], int32_t);
    end = ITEMS(arrays[END], int32_t);
    owner = ITEMS(arrays[OWNER], int32_t);
    level = ITEMS(arrays[OF_LEVELS], int64_t);
    rows = ITEMS(arrays[ROWS], float);
    if (arrays[NAME].length != arrays[ELEMENT].length || arrays[END].length != n
        || arrays[ROWS].length != 4 * m + arrays[OF_LEVELS].length || (m && arrays[OF_LEVELS].length % m)) {
        goto wrong;
    }
    if ((names = calloc((size_t)n + 1, sizeof(Names))) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (i = 0; i < arrays[ELEMENT].length; i++) {
        if (element[i] < 0 || element[i] >= n || entry[i] < 0 || entry[i] >= arrays[ODDS].length) {
            goto wrong;
        }
        names[element[i]].own += ITEMS(arrays[ODDS], float)[entry[i]];
    }
    for (i = 0; i < n; i++) {
        if (parent[i] < -1 || parent[i] >= i || end[i] <= i || end[i] > n) {
            goto wrong;
        }
    }
    follow_paths(names, parent, end, n);
    for (i = 0; i < m; i++) {
        const Names *own;
        if (owner[i] < 0 || owner[i] >= n) {
            goto wrong;
        }
        own = &names[owner[i]];
        rows[i] = (float)own->path;
        rows[m + i] = (float)own->lowest;
        rows[2 * m + i] = (float)own->highest;
        rows[3 * m + i] = (float)own->own;
    }
    for (i = 0; i < arrays[OF_LEVELS].length; i++) {
        if (level[i] < 0 || level[i] >= n) {
            goto wrong;
        }
        rows[4 * m + i] = (float)names[level[i]].path;
    }
    result = Py_NewRef(Py_None);
    goto done;
wrong:
    PyErr_SetString(PyExc_ValueError, "not the arrays of names");
done:
    free(names);
    arrays_release(arrays, ARRAYS);
    return result;
}
