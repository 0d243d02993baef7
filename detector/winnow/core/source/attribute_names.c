/* Names as a site's template has them: see winnow.fingerprints. What is not ASCII is left to
   Python, which knows the white space of all scripts. */
#include "fingerprints.h"

enum { LONGEST_NAME = 1024 };

#define IS_HEXADECIMAL(c) (is_digit(c) || ((c) >= 'a' && (c) <= 'f'))

static int is_equal(Span a, Span b)
{
    return a.end - a.begin == b.end - b.begin && memcmp(a.begin, b.begin, (size_t)(a.end - a.begin)) == 0;
}

int is_line_of(Span lines, Span text)
{
    while (lines.begin < lines.end) {
        if (is_equal(next_line(&lines), text)) {
            return 1;
        }
    }
    return 0;
}

/* Whether a word begins, or ends, with one of the lines. */
static int has_part(Span lines, Span word, int at_end)
{
    while (lines.begin < lines.end) {
        Span part = next_line(&lines);
        Py_ssize_t length = part.end - part.begin;
        if (length <= word.end - word.begin
            && memcmp(at_end ? word.end - length : word.begin, part.begin, (size_t)length) == 0) {
            return 1;
        }
    }
    return 0;
}

static int contains(Span text, const char *part)
{
    size_t length = strlen(part);
    for (; (size_t)(text.end - text.begin) >= length; text.begin++) {
        if (memcmp(text.begin, part, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* "#" for each number; returns where the text ends. */
static unsigned char *without_numbers(Span text, unsigned char *to)
{
    while (text.begin < text.end) {
        if (!is_digit(*text.begin)) {
            *to++ = *text.begin++;
            continue;
        }
        *to++ = '#';
        while (text.begin < text.end && is_digit(*text.begin)) {
            text.begin++;
        }
    }
    return to;
}

static size_t hexadecimals(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *begin = at;
    while (at < end && IS_HEXADECIMAL(*at)) {
        at++;
    }
    return (size_t)(at - begin);
}

/* Length of the long hexadecimal that begins here: a UUID, or twelve digits and more; 0 for none. */
static size_t long_hexadecimal(const unsigned char *at, const unsigned char *end, int goes_on)
{
    static const size_t groups[5] = {8, 4, 4, 4, 12};
    size_t length = 0;
    int group;
    for (group = 0; group < 5; group++) {
        size_t left = (size_t)(end - at) - length;
        if (left < groups[group] || hexadecimals(at + length, at + length + groups[group]) < groups[group]) {
            break;
        }
        length += groups[group];
        if (group == 4) {
            return length;
        }
        if (at + length == end || at[length] != '-') {
            break;
        }
        length++;
    }
    if (goes_on) {
        return 0;
    }
    length = hexadecimals(at, end);
    return length >= 12 ? length : 0;
}

/* "#" for each long hexadecimal; returns where the text ends. */
static unsigned char *without_hexadecimals(Span text, unsigned char *to)
{
    const unsigned char *at = text.begin;
    while (at < text.end) {
        size_t length = 0;
        if (IS_HEXADECIMAL(*at)) {
            length = long_hexadecimal(at, text.end, at > text.begin && IS_HEXADECIMAL(at[-1]));
        }
        if (length) {
            *to++ = '#';
            at += length;
        }
        else {
            *to++ = *at++;
        }
    }
    return to;
}

int put_stable_name(Piece *to, Span value, const States *states)
{
    unsigned char buffer[LONGEST_NAME], other[LONGEST_NAME];
    Span name = {buffer, buffer};
    int marks = 0, says_state, words = 0;
    const unsigned char *at;
    if (value.end - value.begin > LONGEST_NAME || !is_all_ascii(value)) {
        return 0;
    }
    name.end = without_numbers(value, buffer);
    for (at = name.begin; at < name.end; at++) {
        marks += *at == '#';
    }
    if (marks > 2) {
        Span shorter = {other, without_hexadecimals(value, other)};
        name.end = without_numbers(shorter, buffer);
    }
    says_state = contains(value, "curren") || contains(value, "activ") || contains(value, "select");
    for (at = name.begin; at < name.end;) {
        Span word = {at, at};
        while (word.end < name.end && !is_ascii_space(*word.end)) {
            word.end++;
        }
        at = word.end < name.end ? word.end + 1 : word.end;
        if (word.begin == word.end || is_line_of(states->words, word)
            || (says_state && (has_part(states->beginnings, word, 0) || has_part(states->endings, word, 1)))) {
            continue;
        }
        if (words++) {
            piece_put(to, (const unsigned char *)" ", 1);
        }
        piece_put(to, word.begin, (size_t)(word.end - word.begin));
    }
    return !to->is_full;
}
