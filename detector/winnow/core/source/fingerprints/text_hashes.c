/* Prefix sums over the characters of a page: see winnow.fingerprints. */
#include "fingerprints/fingerprints.h"

#define EMPTY 1 /* stands for a hash that happens to be 0, which means "no text" */

typedef struct {
    const uint64_t *tokens;     /* of each UTF-16 code, and behind them of each after a gap */
    const uint8_t *properties;
    uint64_t base, power, sum;
    int64_t exponent;           /* codes so far that are no white space */
    uint32_t row;               /* of the last of them */
    int gap;                    /* whether white space or the border of a block stands before the next */
    Py_ssize_t pending;         /* first border whose first code has not come yet */
    uint64_t *correction;
} Sums;

static void correct(Sums *sums, Py_ssize_t border)
{
    uint64_t correction = sums->tokens[sums->row & (CODES - 1)] - sums->tokens[sums->row];
    for (; sums->pending <= border; sums->pending++) {
        sums->correction[sums->pending] = correction;
    }
}

static inline void add(Sums *sums, uint32_t code, Py_ssize_t border)
{
    sums->row = code + (sums->gap ? CODES : 0);
    sums->gap = 0;
    if (sums->pending <= border) {
        correct(sums, border);
    }
    sums->sum += sums->tokens[sums->row] * sums->power;
    sums->power *= sums->base;
    sums->exponent++;
}

/* Add the characters of a run, of which there are so many. */
static void add_run(Sums *sums, const unsigned char **at, const unsigned char *end, int64_t characters, Py_ssize_t run)
{
    while (characters-- > 0 && *at < end) {
        uint32_t code = **at < 0x80 ? *(*at)++ : next_character(at, end);
        if (property_of(sums->properties, code) & WHITE_SPACE) {
            sums->gap = 1;
        }
        else if (code < CODES) {
            add(sums, code, run);
        }
        else {
            add(sums, first_half(code), run);
            add(sums, second_half(code), run);
        }
    }
}

void hash_runs(const unsigned char *at, const unsigned char *end, const int64_t *offset, Py_ssize_t runs,
               const uint8_t *properties, const uint64_t *tokens, uint64_t base, uint64_t *hashes)
{
    Py_ssize_t r;
    for (r = 0; r < runs; r++) {
        uint64_t correction = 0, hash;
        Sums sums = {tokens, properties, base, 1, 0, 0, 0, 0, 0, &correction};
        add_run(&sums, &at, end, offset[r + 1] - offset[r], 0);
        hash = mix(sums.sum + correction);
        hashes[r] = sums.exponent ? hash ? hash : EMPTY : 0;
    }
}

/* text_hashes(text, run_offset: int64[r + 1], starts: bool[r], properties, tokens: uint64[2 * CODES], base,
               exponent: int64[r + 1], sums: uint64[r + 1], correction: uint64[r + 1]) */
PyObject *core_text_hashes(PyObject *module, PyObject *arguments)
{
    PyObject *text, *offset, *starts, *properties, *tokens, *exponent, *sums, *correction, *result = NULL;
    Array offsets = {0}, begins = {0}, table = {0}, token = {0}, exponents = {0}, totals = {0}, corrections = {0};
    const char *data;
    Py_ssize_t size;
    unsigned long long base;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "UOOOOKOOO", &text, &offset, &starts, &properties, &tokens, &base, &exponent, &sums,
                          &correction)
        || (data = PyUnicode_AsUTF8AndSize(text, &size)) == NULL) {
        return NULL;
    }
    if (array_borrow(&offsets, offset, 8, 0, "run_offset") < 0 || array_borrow(&begins, starts, 1, 0, "starts") < 0
        || array_borrow(&table, properties, 1, 0, "properties") < 0 || array_borrow(&token, tokens, 8, 0, "tokens") < 0
        || array_borrow(&exponents, exponent, 8, 1, "exponent") < 0 || array_borrow(&totals, sums, 8, 1, "sums") < 0
        || array_borrow(&corrections, correction, 8, 1, "correction") < 0) {
        goto done;
    }
    if (table.length != CODE_POINTS || token.length != 2 * CODES || offsets.length < 1
        || begins.length != offsets.length - 1 || exponents.length != offsets.length
        || totals.length != offsets.length || corrections.length != offsets.length) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    {
        const unsigned char *at = (const unsigned char *)data, *end = at + size;
        const int64_t *border = ITEMS(offsets, int64_t);
        Sums state = {ITEMS(token, uint64_t), ITEMS(table, uint8_t), base, 1, 0, 0, 0, 1, 0, ITEMS(corrections, uint64_t)};
        Py_ssize_t r;
        for (r = 0; r < begins.length; r++) {
            ITEMS(exponents, int64_t)[r] = state.exponent;
            ITEMS(totals, uint64_t)[r] = state.sum;
            state.gap |= ITEMS(begins, uint8_t)[r];
            add_run(&state, &at, end, border[r + 1] - border[r], r);
        }
        ITEMS(exponents, int64_t)[r] = state.exponent;
        ITEMS(totals, uint64_t)[r] = state.sum;
        if (state.exponent) {
            correct(&state, r); /* what comes behind the last code takes its row */
        }
        else {
            memset(state.correction, 0, sizeof(uint64_t) * (size_t)(r + 1));
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    array_release(&corrections);
    array_release(&totals);
    array_release(&exponents);
    array_release(&token);
    array_release(&table);
    array_release(&begins);
    array_release(&offsets);
    return result;
}
