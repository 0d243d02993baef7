/* Names as a site's template has them: see tamis.fingerprints. */
#include "fingerprints.h"

#define IS_HEXADECIMAL(c) (is_digit(c) || ((c) >= 'a' && (c) <= 'f'))

int is_listed(Span list, Span word, int part)
{
    while (list.begin < list.end) {
        Py_ssize_t length = *list.begin++, more = word.end - word.begin - length;
        const unsigned char *listed = list.begin, *same = word.begin + (part == ENDING ? more : 0);
        if (length < 1 || length > list.end - listed) {
            break;
        }
        list.begin += length;
        if ((part == WHOLE ? more == 0 : more >= 0) && *same == *listed && memcmp(same, listed, (size_t)length) == 0) {
            return 1;
        }
    }
    return 0;
}

Span next_word(Span *text)
{
    Span rest = *text, word = {rest.begin, rest.begin};
    while (rest.begin < rest.end) {
        if (next_property(&rest) & WHITE_SPACE) {
            if (word.begin < word.end) {
                break;
            }
            word.begin = rest.begin;
        }
        word.end = rest.begin;
    }
    text->begin = rest.begin;
    return word;
}

unsigned char *without_numbers(Span text, unsigned char *to)
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

void put_stable_name(Piece *to, Span value, const AttributeReader *reader)
{
    const Span *lists = reader->lists;
    unsigned char *scratch = reader->scratch;
    Span name = {scratch, without_numbers(value, scratch)}, word;
    int marks = 0, words = 0;
    const unsigned char *at;
    for (at = name.begin; at < name.end; at++) {
        marks += *at == '#';
    }
    if (marks > 2) {
        Span shorter = {scratch + (value.end - value.begin), NULL};
        shorter.end = without_hexadecimals(value, scratch + (value.end - value.begin));
        name.end = without_numbers(shorter, scratch);
    }
    while (word = next_word(&name), word.begin < word.end) {
        if (is_listed(lists[STATES], word, WHOLE) || is_listed(lists[STATE_BEGINNINGS], word, BEGINNING)
            || is_listed(lists[STATE_ENDINGS], word, ENDING)) {
            continue;
        }
        if (words++) {
            to->data[to->length++] = ' ';
        }
        piece_put(to, word);
    }
}
