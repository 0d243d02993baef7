/* Links in one form per target: see winnow.fingerprints. Links with parameters, with dots in their path
   or with other characters than ASCII are left to Python. */
#include "fingerprints/fingerprints.h"

static int begins_with(Span text, const char *beginning, Span then)
{
    size_t length = strlen(beginning), more = (size_t)(then.end - then.begin);
    return (size_t)(text.end - text.begin) >= length + more && memcmp(text.begin, beginning, length) == 0
           && memcmp(text.begin + length, then.begin, more) == 0;
}

static int has_scheme(Span link)
{
    const unsigned char *at = link.begin;
    for (; at < link.end; at++) {
        unsigned char small = *at | 0x20;
        int is_letter = small >= 'a' && small <= 'z';
        if (*at == ':') {
            return at > link.begin;
        }
        if (!is_letter && (at == link.begin || !((*at >= '0' && *at <= '9') || *at == '+' || *at == '.' || *at == '-'))) {
            return 0;
        }
    }
    return 0;
}

/* A path with a part that begins with a dot. */
static int has_dots(Span link)
{
    const unsigned char *at;
    for (at = link.begin; at + 1 < link.end; at++) {
        if (at[0] == '/' && at[1] == '.') {
            return 1;
        }
    }
    return 0;
}

static int put(Piece *to, Span text)
{
    piece_put(to, text.begin, (size_t)(text.end - text.begin));
    return !to->is_full;
}

static int put_below(Piece *to, Span folder, Span link)
{
    if (link.begin < link.end && (*link.begin == '.' || has_dots(link))) {
        return 0;
    }
    piece_put(to, (const unsigned char *)"/", 1);
    return put(to, folder) && put(to, link);
}

static int put_resolved(Piece *to, Span link, const Place *place)
{
    static const char *const schemes[3] = {"https://", "http://", "//"};
    static const Span nothing = {(const unsigned char *)"", (const unsigned char *)""};
    int has_colon, scheme;
    if (!place->is_known || link.begin == link.end || *link.begin == '#' || *link.begin == '?') {
        return put(to, link);
    }
    if (*link.begin == '/' && !begins_with(link, "//", nothing)) {
        return has_dots(link) ? 0 : put(to, link);
    }
    has_colon = memchr(link.begin, ':', (size_t)(link.end - link.begin)) != NULL;
    if (*link.begin != '/' && !begins_with(link, "http", nothing)) {
        return has_colon && has_scheme(link) ? put(to, link) : put_below(to, place->folder, link);
    }
    for (scheme = 0; scheme < 3; scheme++) {
        if (begins_with(link, schemes[scheme], place->host)) {
            Span rest = {link.begin + strlen(schemes[scheme]) + (place->host.end - place->host.begin), link.end};
            if (rest.begin == rest.end || *rest.begin == '/' || *rest.begin == '?' || *rest.begin == '#') {
                if (rest.begin == rest.end || *rest.begin != '/') {
                    piece_put(to, (const unsigned char *)"/", 1);
                }
                return put(to, rest);
            }
        }
    }
    return has_colon || *link.begin == '/' ? put(to, link) : put_below(to, place->folder, link);
}

int token_of_link(Span link, const Place *place, uint64_t *token)
{
    Piece resolved;
    const unsigned char *begin = resolved.data, *mark;
    size_t own = (size_t)(place->own.end - place->own.begin);
    resolved.length = 0;
    resolved.is_full = 0;
    while (link.begin < link.end && is_ascii_space(*link.begin)) {
        link.begin++;
    }
    while (link.begin < link.end && is_ascii_space(link.end[-1])) {
        link.end--;
    }
    if (!is_all_ascii(link) || memchr(link.begin, '=', (size_t)(link.end - link.begin)) != NULL
        || !put_resolved(&resolved, link, place)) {
        return 0;
    }
    mark = memchr(begin, '#', resolved.length);
    if (mark != NULL && place->is_known && (size_t)(mark - begin) == own && memcmp(begin, place->own.begin, own) == 0) {
        *token = hash_bytes(mark, resolved.length - own); /* a place on the page itself */
    }
    else {
        *token = hash_bytes(begin, resolved.length);
    }
    return 1;
}
