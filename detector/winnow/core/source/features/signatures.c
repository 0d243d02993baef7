/* What the blocks of one kind of place have in common. */
#include "features.h"

typedef struct {
    int64_t number, characters, words, linked, ends, repeated;
    double squares;
    Py_ssize_t first, last;
    float features[SIGNATURE_ROWS];
} Place;

static void describe(Place *place, double page_characters, double m)
{
    double number = (double)place->number, words = (double)place->words, mean = words / number;
    float *to = place->features;
    to[0] = (float)log_of(number);
    to[1] = (float)log_of(mean);
    to[2] = (float)((double)place->linked / most((double)place->characters, 1));
    to[3] = (float)((double)place->ends / most(words, 1));
    to[4] = (float)((double)place->characters / page_characters);
    to[5] = (float)((double)(place->last - place->first + 1) / number);
    to[6] = (float)((double)place->first / m);
    to[7] = (float)((double)place->last / m);
    to[8] = (float)log_of(sqrt(most(place->squares / number - mean * mean, 0)));
    to[9] = (float)((double)place->repeated / number);
}

int features_signatures(const Features *f, float *rows)
{
    Py_ssize_t m = f->page.m, b;
    Place *places = calloc((size_t)f->places + 1, sizeof(Place));
    int32_t number;
    int k;
    if (places == NULL) {
        return -1;
    }
    for (b = 0; b < m; b++) {
        Place *place = &places[f->place[b]];
        double words = (double)count_of(f, b, WORDS);
        place->first = place->number++ ? place->first : b;
        place->last = b;
        place->characters += count_of(f, b, CHARACTERS);
        place->words += count_of(f, b, WORDS);
        place->linked += count_of(f, b, LINKED);
        place->ends += count_of(f, b, SENTENCE_ENDS);
        place->squares += words * words;
        place->repeated += f->repeats[b] > 0;
    }
    for (number = 0; number < f->places; number++) {
        describe(&places[number], f->total[CHARACTERS], (double)m);
    }
    for (b = 0; b < m; b++) {
        for (k = 0; k < SIGNATURE_ROWS; k++) {
            ROW(rows, k)[b] = places[f->place[b]].features[k];
        }
    }
    free(places);
    return 0;
}
