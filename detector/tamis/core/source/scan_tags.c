/* Looks through the tags of a document before it is parsed, in one pass: mends what would hide contents, cuts attributes beyond
   a limit, for which parsers take quadratic time, and estimates how much work the nesting of elements, and names without
   number, make for an HTML5 parser. It counts nodes, and notes an element or comment that never ends. It reads tags, comments
   and raw text as the HTML standard and libxml2 from 2.14 on do; what is changed is changed between tags, so that parsers read
   the rest as it was read here. */
#include "core.h"

enum {
    FEW_TAGS = 1500,         /* cannot make much work */
    MOST_STEPS = 20000000,   /* over open elements, at each tag all: some tenths of a second */
    MOST_REOPENED = 500000,  /* elements for formatting that are opened again, at each tag all that were not closed */
    SLOTS = 1024,
    MOST_NAMES = 512,
    LONGEST_NAME = 16,       /* what is longer counts by its beginning */
    FEW_ATTRIBUTES = 10000,  /* those after them are told apart by name, and so are tags beyond the most above */
    MOST_DIFFERENT = 5000,   /* names: each is looked for among all before it */
    HASHES = 1 << 14,
};

enum { NOT_NESTED = 1, FORMATTING = 2, FOREIGN = 4, RAW = 8, FRAME = 16, NOSCRIPT = 32, MADE_BY_END = 64 };

/* Characters below 64, as bits: those that end a name, those that end that of an attribute, and white space. */
#define BIT(c) (UINT64_C(1) << (c))
#define SPACES (BIT(' ') | BIT('\t') | BIT('\n') | BIT('\f') | BIT('\r'))
#define BLANKS (SPACES | BIT('\v')) /* as bytes.strip has them */
#define ENDS (SPACES | BIT('/') | BIT('>'))

static inline int is_among(uint64_t characters, char c)
{
    return (unsigned char)c < 64 && characters >> c & 1;
}

/* Elements of a name: open as far as their end tags have not come. */
typedef struct {
    uint64_t name[LONGEST_NAME / 8]; /* its letters, as numbers, and zeros; zeros alone in a free slot */
    uint64_t open;
    int kind;
} Named;

/* How much work the tags so far may make. Names of tags beyond the most that are told apart share one, whose end tags end nothing. */
typedef struct {
    uint64_t tags, names, depth, unclosed, foreign, steps, reopened, attributes, different;
    int has_foreign; /* a drawing or formula has begun */
    Named slots[SLOTS], others;
    uint64_t *hashes; /* of names that were told apart; NULL until one is to be */
} Nesting;

/* Count a name of which there may be very many, if it is new. */
static void count_name(Nesting *nesting, const char *begin, const char *end)
{
    uint64_t hash = hash_of((Span){(const unsigned char *)begin, (const unsigned char *)end}, core_seed) | 1, slot;
    if (nesting->different > MOST_DIFFERENT || (!nesting->hashes && !(nesting->hashes = calloc(HASHES, sizeof hash)))) {
        return;
    }
    for (slot = hash / 2 % HASHES; nesting->hashes[slot]; slot = (slot + 1) % HASHES) {
        if (nesting->hashes[slot] == hash) {
            return;
        }
    }
    nesting->hashes[slot] = hash;
    nesting->different++;
}

/* The kind of a name between spaces. */
static int kind_of(const char *word)
{
    return (strstr(" area base br col embed hr img input link meta param source track wbr p li dt dd option tbody thead tfoot tr"
                   " td th html head body ", word) ? NOT_NESTED : 0) /* empty, or closed by their like */
        | (strstr(" b big code em font i nobr s small strike strong tt u ", word) ? FORMATTING : 0)
        | (strstr(" svg math ", word) ? FOREIGN : 0)
        | (strstr(" script style title textarea iframe noframes noembed xmp plaintext ", word) ? RAW : 0)
        | (strstr(" frameset frame noframes ", word) ? FRAME : 0)
        | (strstr(" noscript ", word) ? NOSCRIPT : 0)
        | (strstr(" p br ", word) ? MADE_BY_END : 0); /* by an end tag without a start tag */
}

/* Read the name at `at`, which moves past it. */
static Named *read_name(Nesting *nesting, const char **at, const char *end)
{
    char word[LONGEST_NAME + 3] = " ";
    uint64_t numbers[LONGEST_NAME / 8];
    size_t length = 0, slot;
    const char *begin = *at, *c = begin;
    Named *found;
    for (; c < end && !is_among(ENDS, *c); c++) {
        if (length < LONGEST_NAME) {
            word[++length] = (char)lower_of((unsigned char)*c);
        }
    }
    *at = c;
    memcpy(numbers, word + 1, sizeof numbers);
    slot = mixed(numbers[0] ^ numbers[1] * 0x9E3779B97F4A7C15u, core_seed) % SLOTS;
    for (; nesting->slots[slot].name[0]; slot = (slot + 1) % SLOTS) {
        if (nesting->slots[slot].name[0] == numbers[0] && nesting->slots[slot].name[1] == numbers[1]) {
            return &nesting->slots[slot];
        }
    }
    if (nesting->names < MOST_NAMES) {
        nesting->names++;
        found = &nesting->slots[slot];
    }
    else {
        count_name(nesting, begin, c);
        found = &nesting->others;
    }
    memcpy(found->name, numbers, sizeof numbers);
    word[length + 1] = ' ';
    found->kind = kind_of(word);
    return found;
}

/* Count a tag: 1 for a start tag, -1 for an end tag. */
static void count_tag(Nesting *nesting, Named *named, int is_closed, int change)
{
    nesting->tags++;
    nesting->steps += nesting->depth;
    nesting->reopened += nesting->unclosed;
    nesting->has_foreign |= named->kind & FOREIGN;
    if (nesting->foreign ? is_closed : named->kind & NOT_NESTED) {
        return;
    }
    if (change > 0 || (named->open && named != &nesting->others)) {
        named->open += (uint64_t)change;
        nesting->depth += (uint64_t)change;
        nesting->unclosed += named->kind & FORMATTING ? (uint64_t)change : 0;
        nesting->foreign += named->kind & FOREIGN ? (uint64_t)change : 0;
    }
}

/* Count what looks like tags in a text: in drawings and formulas no element has only text for its contents. */
static void count_tags_of_text(Nesting *nesting, const char *at, const char *end)
{
    for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        int is_end = end - at > 1 && at[1] == '/';
        const char *name = at + 1 + is_end;
        if (name < end && is_letter(*name)) {
            count_tag(nesting, read_name(nesting, &name, end), 0, is_end ? -1 : 1);
        }
    }
}

/* A text to be put in the place of what lies between two places. */
typedef struct {
    const char *begin, *end, *text;
} Change;

typedef struct {
    const char *at, *end;
    const char *head_end; /* what is for browsers without scripts is left out up to here */
    int is_closed;        /* a slash at the end of the last tag */
    int has_frames;       /* has come: noframes is no text then */
    size_t nodes;         /* start tags, end tags that make elements, and comments so far */
    size_t not_ended;     /* start tags of what end tags make as well, without theirs */
    const char *endless;  /* where the text of the first that never ends begins */
    const char *endless_name; /* "!--" for a comment */
    size_t before_endless; /* changes before it */
    int failed;           /* no memory */
    Change *changes;
    size_t count, capacity; /* of changes; the latter in bytes */
} Reader;

static void replace(Reader *html, const char *begin, const char *end, const char *text)
{
    if (reserve(&html->changes, &html->capacity, sizeof(Change) * (html->count + 1)) < 0) {
        html->failed = 1;
        return;
    }
    html->changes[html->count++] = (Change){begin, end, text};
}

/* Copy the document with its changes; NULL with an exception. */
static PyObject *changed(const Reader *html, const char *begin)
{
    Py_ssize_t size = html->end - begin;
    PyObject *copy;
    char *to;
    size_t k;
    for (k = 0; k < html->count; k++) {
        size += (Py_ssize_t)strlen(html->changes[k].text) - (html->changes[k].end - html->changes[k].begin);
    }
    if ((copy = PyBytes_FromStringAndSize(NULL, size)) == NULL) {
        return NULL;
    }
    to = PyBytes_AsString(copy);
    for (k = 0; k < html->count; k++) {
        const Change *change = &html->changes[k];
        size_t kept = (size_t)(change->begin - begin), added = strlen(change->text);
        memcpy(to, begin, kept);
        memcpy(to + kept, change->text, added);
        to += kept + added;
        begin = change->end;
    }
    memcpy(to, begin, (size_t)(html->end - begin));
    return copy;
}

/* Skip to a character, or to the end. */
static void skip_to(Reader *html, int c)
{
    const char *found = memchr(html->at, c, (size_t)(html->end - html->at));
    html->at = found ? found : html->end;
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_among(SPACES, *at)) {
        at++;
    }
    return at;
}

/* Skip to the end of a tag whose name has been read; returns where its attributes exceed the limit, or NULL. */
static const char *skip_attributes(Reader *html, Nesting *nesting, Py_ssize_t max_attributes)
{
    const char *at = html->at, *end = html->end, *many = NULL, *name;
    html->is_closed = 0;
    while (at < end && *at != '>') {
        if (is_among(ENDS, *at)) {
            html->is_closed = *at++ == '/' && at < end && *at == '>';
            continue;
        }
        if (max_attributes-- == 0) {
            many = at;
        }
        name = at;
        do { /* an equals sign may begin a name */
            at++;
        } while (at < end && !is_among(ENDS | BIT('='), *at));
        if (++nesting->attributes > FEW_ATTRIBUTES) {
            count_name(nesting, name, at);
        }
        at = skip_spaces(at, end);
        if (at == end || *at != '=') {
            continue;
        }
        at = skip_spaces(at + 1, end);
        if (at < end && (*at == '"' || *at == '\'')) {
            const char *quote = memchr(at + 1, *at, (size_t)(end - at - 1));
            at = quote ? quote + 1 : end;
            continue;
        }
        while (at < end && !is_among(SPACES | BIT('>'), *at)) {
            at++;
        }
    }
    html->at = at;
    return many;
}

/* Whether this name, given in lower case, also ends here. */
static int is_named(const char *at, const char *end, const char *name)
{
    for (; *name && at < end && (*at | 32) == *name; at++, name++) {
    }
    return !*name && at < end && is_among(ENDS, *at);
}

/* Skip to the end tag of an element whose contents are text; a script may hold end tags in comments. */
static void skip_raw_text(Reader *html, const char *name)
{
    enum { TEXT, COMMENT, SCRIPT_IN_COMMENT } state = TEXT;
    int is_script = strcmp(name, "script") == 0;
    if (strcmp(name, "plaintext") == 0) { /* has no end */
        html->at = html->end;
    }
    for (; html->at < html->end; html->at++) {
        const char *at;
        Py_ssize_t left;
        if (state == TEXT) {
            skip_to(html, '<');
            if (html->at == html->end) {
                return;
            }
        }
        at = html->at;
        left = html->end - at;
        if (state != TEXT && *at == '-' && left > 2 && at[1] == '-' && at[2] == '>') {
            state = TEXT;
        }
        else if (left < 2 || *at != '<') {
            continue;
        }
        else if (at[1] == '/' && is_named(at + 2, html->end, name)) {
            if (state != SCRIPT_IN_COMMENT) {
                return;
            }
            state = COMMENT;
        }
        else if (is_script && state == TEXT && left > 3 && memcmp(at, "<!--", 4) == 0) {
            state = COMMENT;
            html->at++; /* its dashes may be those of its end */
        }
        else if (state == COMMENT && is_named(at + 1, html->end, name)) {
            state = SCRIPT_IN_COMMENT;
        }
    }
}

static void note_endless(Reader *html, const char *begin, const char *name)
{
    if (html->endless == NULL) {
        html->endless = begin;
        html->endless_name = name;
        html->before_endless = html->count;
    }
}

/* Bytes of the changed document from what never ends on. */
static Py_ssize_t endless_size(const Reader *html)
{
    Py_ssize_t size = html->endless ? html->end - html->endless : 0;
    size_t k;
    for (k = html->endless ? html->before_endless : html->count; k < html->count; k++) {
        size += (Py_ssize_t)strlen(html->changes[k].text) - (html->changes[k].end - html->changes[k].begin);
    }
    return size;
}

/* Skip a comment whose opening dashes have been read. */
static void skip_comment(Reader *html)
{
    const char *begin = html->at;
    for (skip_to(html, '>'); html->at < html->end; html->at++, skip_to(html, '>')) {
        if (html->at == begin || (html->at == begin + 1 && *begin == '-')
            || (html->at - begin >= 2 && memcmp(html->at - 2, "--", 2) == 0)
            || (html->at - begin >= 3 && memcmp(html->at - 3, "--!", 3) == 0)) {
            return;
        }
    }
    note_endless(html, begin, "!--");
}

static const char *find_tag(const char *at, const char *end, const char *name)
{
    for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL && !is_named(at + 1, end, name); at++) {
    }
    return at;
}

/* Whether a title holds the end of the head or the beginning of the body: its own end tag is that of a drawing. */
static int holds_page(const Named *named, const char *begin, const char *end)
{
    return strcmp((const char *)named->name, "title") == 0 && (find_tag(begin, end, "/head") || find_tag(begin, end, "body"));
}

/* Skip a tag, whose name follows. */
static void skip_tag(Reader *html, Py_ssize_t max_attributes, Nesting *nesting, const char *begin, int is_end)
{
    Named *named = read_name(nesting, &html->at, html->end);
    const char *many = skip_attributes(html, nesting, max_attributes), *after = html->at + (html->at < html->end);
    if (named->kind & FRAME && (html->has_frames |= !(named->kind & RAW))) {
        replace(html, begin, after, ""); /* what is said to browsers without frames is read: all that old pages have */
        return;
    }
    if (is_end) {
        count_tag(nesting, named, 0, -1);
        if (named->kind & MADE_BY_END) {
            if (html->not_ended) {
                html->not_ended--;
            }
            else {
                html->nodes++;
            }
        }
        return;
    }
    if (named->kind & NOSCRIPT && html->at < html->head_end) {
        const char *contents_end = find_tag(html->at, html->head_end, "/noscript");
        if (contents_end != NULL) {
            replace(html, begin, contents_end, ""); /* pictures and text would end the head */
            html->at = contents_end;
            return;
        }
        html->head_end = begin;
    }
    if (many != NULL) {
        replace(html, many, html->at, "");
    }
    html->nodes++;
    html->not_ended += !!(named->kind & MADE_BY_END);
    count_tag(nesting, named, html->is_closed, 1);
    if (html->at < html->end && html->at[-1] == '/' && strcmp((const char *)named->name, "iframe") == 0) {
        replace(html, after, after, "</iframe>"); /* else all that follows would be its contents */
        count_tag(nesting, named, html->is_closed, -1);
        return;
    }
    if (named->kind & RAW && !html->is_closed) {
        skip_raw_text(html, (const char *)named->name);
        if (html->at == html->end || holds_page(named, after, html->at)) {
            note_endless(html, after, (const char *)named->name);
        }
        if (nesting->has_foreign) {
            count_tags_of_text(nesting, after, html->at);
        }
    }
}

/* Skip what begins with "<". */
static void skip_markup(Reader *html, Py_ssize_t max_attributes, Nesting *nesting)
{
    const char *begin = html->at++;
    Py_ssize_t left = html->end - html->at;
    int is_end = left > 0 && *html->at == '/';
    if (left > 2 && memcmp(html->at, "!--", 3) == 0) {
        html->at += 3;
        html->nodes++;
        skip_comment(html);
    }
    else if (left > is_end && is_letter(html->at[is_end])) {
        html->at += is_end;
        skip_tag(html, max_attributes, nesting, begin, is_end);
    }
    else if (is_end || (left > 0 && (*html->at == '!' || *html->at == '?'))) {
        html->nodes++; /* a comment for browsers */
        skip_to(html, '>');
    }
}

/* scan_tags(html, max_attributes) -> bytes, without white space around them, `html` itself if nothing was to be changed;
             whether the nesting or names of its elements may make an HTML5 parser slow; its start tags and comments; its
             attributes; name of the element whose text never ends, "!--" for a comment, or None; the bytes of that text */
PyObject *core_scan_tags(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(free_memory) Nesting *nesting = NULL;
    SCOPED(free_memory) uint64_t *hashes = NULL;
    Reader html = {0};
    PyObject *given, *found;
    char *begin;
    Py_ssize_t size, given_size, max_attributes, rest;
    int is_hard;
    if (!PyArg_ParseTuple(arguments, "Sn", &given, &max_attributes)
        || PyBytes_AsStringAndSize(given, &begin, &given_size) < 0) {
        return NULL;
    }
    if ((nesting = calloc(1, sizeof *nesting)) == NULL) {
        return PyErr_NoMemory();
    }
    for (size = given_size; size > 0 && is_among(BLANKS, begin[size - 1]); size--) {
    }
    for (; size > 0 && is_among(BLANKS, *begin); begin++, size--) {
    }
    html.at = begin;
    html.end = begin + size;
    Py_BEGIN_ALLOW_THREADS
    html.head_end = find_tag(begin, html.end, "body");
    html.head_end = html.head_end ? html.head_end : begin;
    for (skip_to(&html, '<'); html.at < html.end && !html.failed; skip_to(&html, '<')) {
        skip_markup(&html, max_attributes, nesting);
    }
    Py_END_ALLOW_THREADS
    hashes = nesting->hashes;
    rest = endless_size(&html);
    found = html.failed                              ? PyErr_NoMemory()
            : html.count || size < given_size ? changed(&html, begin)
                                               : Py_NewRef(given);
    free(html.changes);
    is_hard = nesting->different > MOST_DIFFERENT
              || (nesting->tags > FEW_TAGS && (nesting->steps > MOST_STEPS || nesting->reopened > MOST_REOPENED));
    return found ? Py_BuildValue("NOnnzn", found, is_hard ? Py_True : Py_False, (Py_ssize_t)html.nodes,
                                 (Py_ssize_t)nesting->attributes, html.endless_name, rest)
                 : NULL;
}
