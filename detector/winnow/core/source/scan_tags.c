/* Looks through the tags of a document before it is parsed, in one pass: cuts attributes beyond a limit, for which parsers
   take quadratic time, and estimates how much work the nesting of elements makes for an HTML5 parser. It reads tags, comments
   and raw text as the HTML standard and libxml2 from 2.14 on do. */
#include "core.h"

enum {
    FEW_TAGS = 1500,         /* cannot make much work */
    MOST_STEPS = 20000000,   /* over open elements, at each tag all: some tenths of a second */
    MOST_REOPENED = 500000,  /* elements for formatting that are opened anew, at each tag all that were not closed */
    SLOTS = 1024,
    MOST_NAMES = 512,
    LONGEST_NAME = 16,       /* what is longer counts by its beginning */
};

enum { NOT_NESTED = 1, FORMATTING = 2, FOREIGN = 4, RAW = 8 };

/* Elements of a name: open as far as their end tags have not come. */
typedef struct {
    uint64_t name[LONGEST_NAME / 8]; /* its letters, as numbers, and zeros; zeros alone in a free slot */
    uint64_t open;
    int kind;
} Named;

/* How much work the tags so far may make. Names beyond the most that are told apart share one, whose end tags end nothing. */
typedef struct {
    uint64_t seed, tags, names, depth, unclosed, foreign, steps, reopened;
    int has_foreign; /* a drawing or formula has begun */
    Named slots[SLOTS], others;
} Nesting;

static int kind_of(const char *name)
{
    char word[LONGEST_NAME + 3];
    PyOS_snprintf(word, sizeof word, " %s ", name);
    return (strstr(" area base br col embed hr img input link meta param source track wbr p li dt dd option tbody thead tfoot tr"
                   " td th html head body ", word) ? NOT_NESTED : 0) /* empty, or closed by their like */
        | (strstr(" b big code em font i nobr s small strike strong tt u ", word) ? FORMATTING : 0)
        | (strstr(" svg math ", word) ? FOREIGN : 0)
        | (strstr(" script style title textarea iframe noframes noembed xmp plaintext ", word) ? RAW : 0);
}

static Named *find_name(Nesting *nesting, const char *at, const char *end)
{
    unsigned char name[LONGEST_NAME + 1] = {0};
    uint64_t numbers[LONGEST_NAME / 8];
    size_t length = 0, slot;
    Named *found;
    for (; at < end && length < LONGEST_NAME && *at != '>' && *at != '/' && !is_space((unsigned char)*at); at++) {
        name[length++] = (unsigned char)lower_of((unsigned char)*at);
    }
    memcpy(numbers, name, sizeof numbers);
    slot = mixed(numbers[0] ^ numbers[1] * 0x9E3779B97F4A7C15u, nesting->seed) % SLOTS;
    for (; nesting->slots[slot].name[0]; slot = (slot + 1) % SLOTS) {
        if (nesting->slots[slot].name[0] == numbers[0] && nesting->slots[slot].name[1] == numbers[1]) {
            return &nesting->slots[slot];
        }
    }
    found = nesting->names < MOST_NAMES ? &nesting->slots[slot] : &nesting->others;
    nesting->names += found != &nesting->others;
    memcpy(found->name, numbers, sizeof numbers);
    found->kind = kind_of((const char *)name);
    return found;
}

/* Count a tag: 1 for a start tag, -1 for an end tag. */
static const Named *count_tag(Nesting *nesting, const char *at, const char *end, int is_closed, int change)
{
    Named *named = find_name(nesting, at, end);
    nesting->tags++;
    nesting->steps += nesting->depth;
    nesting->reopened += nesting->unclosed;
    nesting->has_foreign |= named->kind & FOREIGN;
    if (nesting->foreign ? is_closed : named->kind & NOT_NESTED) {
        return named;
    }
    if (change > 0 || (named->open && named != &nesting->others)) {
        named->open += (uint64_t)change;
        nesting->depth += (uint64_t)change;
        nesting->unclosed += named->kind & FORMATTING ? (uint64_t)change : 0;
        nesting->foreign += named->kind & FOREIGN ? (uint64_t)change : 0;
    }
    return named;
}

/* Count what looks like tags in a text: in drawings and formulas no element has only text for its contents. */
static void count_tags_of_text(Nesting *nesting, const char *at, const char *end)
{
    for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        int is_end = end - at > 1 && at[1] == '/';
        if (end - at > 1 + is_end && is_letter(at[1 + is_end])) {
            count_tag(nesting, at + 1 + is_end, end, 0, is_end ? -1 : 1);
        }
    }
}

typedef struct {
    const char *at, *end;
    const char *tag_end; /* of the last tag */
    int is_closed;       /* a slash at its end */
} Reader;

/* Skip to a character, or to the end. */
static void skip_to(Reader *html, int c)
{
    const char *found = memchr(html->at, c, (size_t)(html->end - html->at));
    html->at = found ? found : html->end;
}

static void skip_name(Reader *html, int is_attribute)
{
    const char *begin = html->at;
    for (; html->at < html->end && *html->at != '>' && *html->at != '/' && !is_space((unsigned char)*html->at); html->at++) {
        if (is_attribute && *html->at == '=' && html->at > begin) {
            return;
        }
    }
}

static void skip_spaces(Reader *html)
{
    while (html->at < html->end && is_space((unsigned char)*html->at)) {
        html->at++;
    }
}

/* Skip to the end of a tag whose name has been read; returns where its attributes exceed the limit, or NULL. */
static const char *skip_attributes(Reader *html, Py_ssize_t max_attributes)
{
    const char *many = NULL;
    html->is_closed = 0;
    while (html->at < html->end && *html->at != '>') {
        if (*html->at == '/' || is_space((unsigned char)*html->at)) {
            html->is_closed = *html->at++ == '/' && html->at < html->end && *html->at == '>';
            continue;
        }
        if (max_attributes-- == 0) {
            many = html->at;
        }
        skip_name(html, 1);
        skip_spaces(html);
        if (html->at >= html->end || *html->at != '=') {
            continue;
        }
        html->at++;
        skip_spaces(html);
        if (html->at < html->end && (*html->at == '"' || *html->at == '\'')) {
            int quote = *html->at++;
            skip_to(html, quote);
            html->at += html->at < html->end;
            continue;
        }
        while (html->at < html->end && *html->at != '>' && !is_space((unsigned char)*html->at)) {
            html->at++;
        }
    }
    html->tag_end = html->at;
    return many;
}

/* Whether this name, given in small letters, ends here, too. */
static int is_named(const char *at, const char *end, const char *name)
{
    for (; *name && at < end && (*at | 32) == *name; at++, name++) {
    }
    return !*name && at < end && (*at == '>' || *at == '/' || is_space((unsigned char)*at));
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
}

/* Skip what begins with "<"; returns where the attributes of a tag exceed the limit, or NULL. */
static const char *skip_markup(Reader *html, Py_ssize_t max_attributes, Nesting *nesting)
{
    const char *name = ++html->at, *many, *begin;
    Py_ssize_t left = html->end - name;
    const Named *named;
    if (left > 2 && memcmp(name, "!--", 3) == 0) {
        html->at += 3;
        skip_comment(html);
    }
    else if (left > 1 && *name == '/' && is_letter(name[1])) {
        html->at++;
        skip_name(html, 0);
        skip_attributes(html, max_attributes);
        count_tag(nesting, name + 1, html->end, 0, -1);
    }
    else if (left > 0 && (*name == '!' || *name == '?' || *name == '/')) {
        skip_to(html, '>');
    }
    else if (left > 0 && is_letter(*name)) {
        skip_name(html, 0);
        many = skip_attributes(html, max_attributes);
        begin = html->at;
        named = count_tag(nesting, name, html->end, html->is_closed, 1);
        if (named->kind & RAW && !html->is_closed) {
            skip_raw_text(html, (const char *)named->name);
        }
        if (nesting->has_foreign) {
            count_tags_of_text(nesting, begin, html->at);
        }
        return many;
    }
    return NULL;
}

/* scan_tags(html, max_attributes, seed) -> bytes, `html` itself if no tag has more attributes; whether the nesting of its
             elements may make an HTML5 parser slow */
PyObject *core_scan_tags(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(free_memory) char *shorter = NULL;
    SCOPED(free_memory) Nesting *nesting = NULL;
    PyObject *given, *found;
    const char *kept;
    char *to = NULL; /* behind what has been written */
    Py_ssize_t size, max_attributes;
    unsigned long long seed;
    int failed = 0, is_hard;
    Reader html;
    if (!PyArg_ParseTuple(arguments, "SnK", &given, &max_attributes, &seed)
        || PyBytes_AsStringAndSize(given, (char **)&kept, &size) < 0) {
        return NULL;
    }
    if ((nesting = calloc(1, sizeof *nesting)) == NULL) {
        return PyErr_NoMemory();
    }
    nesting->seed = seed;
    html = (Reader){kept, kept + size, NULL, 0};
    Py_BEGIN_ALLOW_THREADS
    for (skip_to(&html, '<'); html.at < html.end; skip_to(&html, '<')) {
        const char *many = skip_markup(&html, max_attributes, nesting);
        if (many == NULL) {
            continue;
        }
        if (shorter == NULL && (to = shorter = malloc((size_t)size)) == NULL) {
            failed = 1;
            break;
        }
        memcpy(to, kept, (size_t)(many - kept));
        to += many - kept;
        kept = html.tag_end;
    }
    Py_END_ALLOW_THREADS
    if (failed) {
        return PyErr_NoMemory();
    }
    if (shorter == NULL) {
        found = Py_NewRef(given);
    }
    else {
        memcpy(to, kept, (size_t)(html.end - kept));
        found = PyBytes_FromStringAndSize(shorter, to - shorter + (html.end - kept));
    }
    is_hard = nesting->tags > FEW_TAGS && (nesting->steps > MOST_STEPS || nesting->reopened > MOST_REOPENED);
    return found ? Py_BuildValue("NO", found, is_hard ? Py_True : Py_False) : NULL;
}
