/* Cuts attributes beyond a limit from the tags of a document, for which libxml2 takes quadratic time, in one pass. It reads
   tags, comments and raw text as the HTML standard and libxml2 from 2.14 on do. */
#include "core.h"

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
static const char *skip_markup(Reader *html, Py_ssize_t max_attributes)
{
    static const char *const raw[] = {"script", "style", "title", "textarea", "iframe", "noframes", "noembed", "xmp", NULL};
    const char *name = ++html->at, *many, *const *of;
    Py_ssize_t left = html->end - name;
    if (left > 2 && memcmp(name, "!--", 3) == 0) {
        html->at += 3;
        skip_comment(html);
    }
    else if (left > 1 && *name == '/' && is_letter(name[1])) {
        html->at++;
        skip_name(html, 0);
        skip_attributes(html, max_attributes);
    }
    else if (left > 0 && (*name == '!' || *name == '?' || *name == '/')) {
        skip_to(html, '>');
    }
    else if (left > 0 && is_letter(*name)) {
        skip_name(html, 0);
        many = skip_attributes(html, max_attributes);
        if (html->at < html->end && !html->is_closed) {
            for (of = raw; *of; of++) {
                if (is_named(name, html->end, *of)) {
                    skip_raw_text(html, *of);
                }
            }
            if (is_named(name, html->end, "plaintext")) {
                html->at = html->end;
            }
        }
        return many;
    }
    return NULL;
}

/* limit_attributes(html, max_attributes) -> bytes; `html` itself if no tag has more attributes */
PyObject *core_limit_attributes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(free_memory) char *shorter = NULL;
    PyObject *given;
    const char *kept;
    char *to = NULL; /* behind what has been written */
    Py_ssize_t size, max_attributes;
    int failed = 0;
    Reader html;
    if (!PyArg_ParseTuple(arguments, "Sn", &given, &max_attributes) || PyBytes_AsStringAndSize(given, (char **)&kept, &size) < 0) {
        return NULL;
    }
    html = (Reader){kept, kept + size, NULL, 0};
    Py_BEGIN_ALLOW_THREADS
    for (skip_to(&html, '<'); html.at < html.end; skip_to(&html, '<')) {
        const char *many = skip_markup(&html, max_attributes);
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
    if (shorter == NULL) {
        return failed ? PyErr_NoMemory() : Py_NewRef(given);
    }
    memcpy(to, kept, (size_t)(html.end - kept));
    return PyBytes_FromStringAndSize(shorter, to - shorter + (html.end - kept));
}

/* find_end(html) -> where the first "</html" or "<frameset" begins, -1 without one */
PyObject *core_find_end(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const char *at, *end;
    Span html;
    if (!PyArg_ParseTuple(arguments, "O&", in_bytes, &html)) {
        return NULL;
    }
    end = (const char *)html.end;
    for (at = (const char *)html.begin; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        const char *name = (at + 1 < end && at[1] == '/') ? "/html" : "frameset", *c = at + 1;
        for (; *name && c < end && (*c | 32) == (*name | 32); c++, name++) {
        }
        if (!*name) {
            return PyLong_FromSsize_t(at - (const char *)html.begin);
        }
    }
    return PyLong_FromLong(-1);
}
