/* Features of the whole page. */
#include "features.h"

void features_of_page(const Features *f, float *to)
{
    static const int counted[] = {IS_PARAGRAPH, IS_LINK, IS_IMAGE, IS_HEADING, IS_CONTROL,
                                  IS_TABLE, IS_ITEM, IS_PRE, IS_ARTICLE, IS_MAIN};
    static const int holders[] = {IS_ARTICLE, IS_MAIN, IS_NOSCRIPT};
    const PageArrays *page = &f->page;
    int64_t words = 0, longest = 0, alike = 0, number_long = 0, long_characters = 0;
    int64_t tags[IS_EMPHASIS + 1] = {0}, largest[IS_EMPHASIS + 1] = {0};
    Py_ssize_t i;
    int k;
    for (i = 0; i < page->m; i++) {
        int64_t own = count_of(f, i, WORDS);
        words += own;
        longest = own > longest ? own : longest;
        if (is_long(f, i)) {
            number_long++;
            long_characters += count_of(f, i, CHARACTERS);
        }
    }
    for (i = 0; i < page->n; i++) {
        uint32_t flags = f->flags[page->tag[i]];
        alike = f->alike[i] > alike ? f->alike[i] : alike;
        for (k = 0; flags >> k && k <= IS_EMPHASIS; k++) {
            if (HAS(flags, k)) {
                int64_t characters = in_subtree(f, i, CHARACTERS);
                tags[k]++;
                largest[k] = characters > largest[k] ? characters : largest[k];
            }
        }
    }
    to[0] = (float)log_of((double)words);
    to[1] = (float)log_of((double)page->m);
    to[2] = (float)log_of((double)page->n);
    to[3] = (float)log_of((double)longest);
    to[4] = (float)log_of((double)alike);
    to[5] = (float)log_of((double)number_long);
    for (k = 0; k < 10; k++) {
        to[6 + k] = (float)log_of((double)tags[counted[k]]);
    }
    to[16] = (float)(f->total[LINKED] / f->total[CHARACTERS]);
    to[17] = (float)(f->total[SENTENCE_ENDS] / f->total[WORDS]);
    to[18] = (float)(f->total[COMMAS] / f->total[WORDS]);
    to[19] = (float)((double)long_characters / f->total[CHARACTERS]);
    to[20] = (float)(f->total[WORDS] / most((double)page->m, 1));
    for (k = 0; k < 3; k++) {
        to[21 + k] = (float)((double)largest[holders[k]] / f->total[CHARACTERS]);
    }
}
