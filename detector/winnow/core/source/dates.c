/* Which texts look like the date or the age of a post: see winnow.evidence.comment_model. Texts with other characters
   than the most common ones are left to Python, which knows letters and digits of all scripts. */
#include "core.h"

enum { TIME_OF_DAY = 1, YEAR = 2, AGE = 4, CLOCK_PERHAPS = 8, UNDECIDED = 255 };
enum { OTHER, SPACE, DIGIT, LETTER, LINE, UNKNOWN }; /* kinds of characters; LINE is "_", of words but no letter */

#define MAX_CHARACTERS 255
#define AGE_FRACTION 3 /* an age is at most a third as long as a text may be */

typedef struct {
    unsigned char kind[MAX_CHARACTERS + 1];   /* OTHER behind the last */
    unsigned char letter[MAX_CHARACTERS + 1]; /* ASCII in lower case, 0 for anything else */
    int length;
} Text;

static int kind_of(uint32_t code)
{
    if (code < 0x80) {
        if (code >= '0' && code <= '9') {
            return DIGIT;
        }
        if ((code | 0x20) >= 'a' && (code | 0x20) <= 'z') {
            return LETTER;
        }
        return code == ' ' ? SPACE : code == '_' ? LINE : code > ' ' && code < 0x7F ? OTHER : UNKNOWN;
    }
    if (code >= 0xC0 && code < 0x250) { /* Latin */
        return code == 0xD7 || code == 0xF7 ? OTHER : LETTER;
    }
    if ((code >= 0x2010 && code < 0x2028) || code == 0xA9 || code == 0xAB || code == 0xAE || code == 0xB7 || code == 0xBB) {
        return OTHER; /* dashes, quotation marks, bullets */
    }
    return UNKNOWN;
}

static int in_word(const Text *text, int at)
{
    return text->kind[at] >= DIGIT;
}

static int run_of(const Text *text, int at, int kind)
{
    int end = at;
    while (text->kind[end] == kind) {
        end++;
    }
    return end - at;
}

/* Whether one or two digits at the beginning of a word begin a time of day. */
static int is_time(const Text *text, int at, int digits)
{
    int behind = at + digits;
    unsigned char mark = text->letter[behind];
    if (mark == ':' || mark == '.' || mark == 'h') {
        if (run_of(text, behind + 1, DIGIT) == 2 && !in_word(text, behind + 3)) {
            return 1;
        }
    }
    behind += text->kind[behind] == SPACE;
    if (text->letter[behind] != 'a' && text->letter[behind] != 'p') {
        return 0;
    }
    behind += 1 + (text->letter[behind + 1] == '.');
    return text->letter[behind] == 'm' && !in_word(text, behind + 1);
}

/* Whether digits at the beginning of a word begin an age that ends the text: "3mo", "2 days ago". */
static int is_age(const Text *text, int at, int digits)
{
    int behind = at + digits, letters;
    behind += text->letter[behind] == '+';
    behind += text->kind[behind] == SPACE;
    letters = run_of(text, behind, LETTER);
    behind += letters;
    if (letters < 1 || letters > 7 || in_word(text, behind)) {
        return 0;
    }
    if (text->kind[behind] == SPACE) {
        letters = run_of(text, behind + 1, LETTER);
        behind += letters >= 2 && letters <= 6 ? 1 + letters : 0;
    }
    return behind == text->length;
}

/* Whether a text begins with an age: "5 min", "12h". */
static int begins_with_age(const Text *text, int digits)
{
    int behind = digits + (text->kind[digits] == SPACE), letters = run_of(text, behind, LETTER);
    return digits <= 2 && letters >= 1 && letters <= 3 && !in_word(text, behind + letters);
}

/* Whether digits that end here may begin a time, whatever follows. */
static int is_clock_perhaps(const Text *text, int behind)
{
    return (text->letter[behind] == ':' || text->letter[behind] == 'h') && run_of(text, behind + 1, DIGIT) >= 2;
}

static int is_year(const Text *text, int at)
{
    const unsigned char *digit = text->letter + at;
    return (digit[0] == '1' && digit[1] == '9' && digit[2] >= '8') || (digit[0] == '2' && digit[1] == '0' && digit[2] <= '4');
}

static unsigned signs_of(const Text *text, int longest)
{
    unsigned signs = 0;
    int at = 0;
    while (at < text->length) {
        int digits = run_of(text, at, DIGIT), new_word;
        if (digits == 0) {
            at++;
            continue;
        }
        new_word = at == 0 || !in_word(text, at - 1);
        if (new_word && digits <= 2 && is_time(text, at, digits)) {
            signs |= TIME_OF_DAY;
        }
        if (is_clock_perhaps(text, at + digits)) {
            signs |= CLOCK_PERHAPS;
        }
        if (digits == 4 && is_year(text, at)) {
            signs |= YEAR;
        }
        if (text->length * AGE_FRACTION <= longest) {
            int behind_space = at == 0 || text->kind[at - 1] == SPACE;
            if ((at == 0 && begins_with_age(text, digits)) || (behind_space && digits <= 3 && is_age(text, at, digits))) {
                signs |= AGE;
            }
        }
        at += digits;
    }
    return signs;
}

/* The signs of a text that is short enough, or UNDECIDED. */
static unsigned read_text(Span utf8, int longest)
{
    Text text;
    int digits = 0, unknown = 0;
    text.length = 0;
    while (utf8.begin < utf8.end && text.length < MAX_CHARACTERS) {
        uint32_t code = next_character(&utf8.begin, utf8.end);
        int kind = kind_of(code);
        digits |= kind == DIGIT;
        unknown |= kind == UNKNOWN;
        text.kind[text.length] = (unsigned char)kind;
        text.letter[text.length++] = (unsigned char)(code >= 0x80 ? 0 : kind == LETTER ? code | 0x20 : code);
    }
    text.kind[text.length] = text.letter[text.length] = 0;
    return unknown ? UNDECIDED : digits ? signs_of(&text, longest) : 0;
}

/* date_signs(texts: list of m, longest, signs: uint8[m]); texts of words with single spaces between them */
PyObject *core_date_signs(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    SCOPED(array_release) Array signs = {0};
    PyObject *texts;
    Py_ssize_t i;
    int longest;
    if (!PyArg_ParseTuple(arguments, "O!iO&", &PyList_Type, &texts, &longest, out_1, &signs)
        || !check_arrays(longest >= 0 && longest <= MAX_CHARACTERS && signs.length == PyList_Size(texts))) {
        return NULL;
    }
    for (i = 0; i < signs.length; i++) {
        PyObject *text = PyList_GetItem(texts, i);
        Py_ssize_t length = text ? PyUnicode_GetLength(text) : -1;
        Span utf8;
        if (length < 0 || (length <= longest && !in_text(text, &utf8))) {
            return NULL;
        }
        ITEMS(signs, uint8_t)[i] = length <= longest ? (uint8_t)read_text(utf8, longest) : 0;
    }
    Py_RETURN_NONE;
}
