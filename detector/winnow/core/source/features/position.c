/* Features of a block's place in reading order and of the blocks around it: the doubles of features.position and
   features.neighbours. */
#include "features.h"

#define NO_H1 (-9.0f)
#define NO_HEADING 8.0f
#define FARTHEST 8.0
#define MOST_H1 5
#define OUTSIDE (-1.0f)

static void write_h1(const Features *f, float *rows)
{
    Py_ssize_t m = f->page.m, b, longest = -1;
    int64_t before = 0, before_longest = 0;
    int number = 0;
    for (b = 0; b < m; b++) {
        if (enclosing(f, H1, b)) {
            number++;
            if (longest < 0 || count_of(f, b, CHARACTERS) > count_of(f, longest, CHARACTERS)) {
                longest = b;
                before_longest = before;
            }
        }
        before += count_of(f, b, CHARACTERS);
    }
    before = 0;
    for (b = 0; b < m; b++) {
        double blocks = (double)(b - longest), characters = (double)(before - before_longest);
        ROW(rows, 7)[b] = longest < 0 ? NO_H1 : (float)(blocks < 0 ? -log_of(-blocks) : log_of(blocks));
        ROW(rows, 8)[b] = longest < 0 ? NO_H1 : (float)(characters < 0 ? -log_of(-characters) : log_of(characters));
        ROW(rows, 9)[b] = (float)(number < MOST_H1 ? number : MOST_H1);
        before += count_of(f, b, CHARACTERS);
    }
}

void features_position(const Features *f, float *rows)
{
    Py_ssize_t m = f->page.m, b, heading = -1, last_long = -1, next_long = -1;
    double total = f->total[CHARACTERS], before = 0, long_text = 0;
    write_h1(f, rows);
    for (b = 0; b < m; b++) {
        double characters = (double)count_of(f, b, CHARACTERS);
        ROW(rows, 0)[b] = (float)(before / total);
        ROW(rows, 1)[b] = (float)((double)b / (double)m);
        ROW(rows, 2)[b] = (float)log_of(most(total - before - characters, 0));
        ROW(rows, 3)[b] = (float)log_of(before);
        ROW(rows, 4)[b] = (float)(characters / total);
        ROW(rows, 5)[b] = (float)log_of((double)b);
        ROW(rows, 6)[b] = (float)log_of((double)(m - 1 - b));
        before += characters;
        heading = in_heading(f, b) ? b : heading;
        if (is_long(f, b)) {
            last_long = b;
            long_text += characters;
        }
        ROW(rows, 10)[b] = heading >= 0 ? (float)log_of((double)(b - heading)) : NO_HEADING;
        ROW(rows, 11)[b] = (float)(last_long >= 0 ? least(log_of((double)(b - last_long)), FARTHEST) : FARTHEST);
    }
    before = 0;
    for (b = 0; b < m; b++) {
        before += is_long(f, b) ? (double)count_of(f, b, CHARACTERS) : 0;
        ROW(rows, 13)[b] = (float)(before / most(long_text, 1));
    }
    for (b = m - 1; b >= 0; b--) {
        next_long = is_long(f, b) ? b : next_long;
        ROW(rows, 12)[b] = (float)(next_long >= 0 ? least(log_of((double)(next_long - b)), FARTHEST) : FARTHEST);
    }
}

enum { OF_NEIGHBOUR = 6, WINDOWS = 3 };

static void describe(const Features *f, Py_ssize_t b, float *features)
{
    double words = (double)count_of(f, b, WORDS);
    features[0] = (float)log_of(words);
    features[1] = (float)((double)count_of(f, b, LINKED) / most((double)count_of(f, b, CHARACTERS), 1));
    features[2] = (float)least((double)count_of(f, b, SENTENCE_ENDS) / most(words, 0.5), 2);
    features[3] = (float)in_heading(f, b);
    features[4] = enclosing(f, P, b) > 0;
    features[5] = enclosing(f, LI, b) > 0;
}

void features_neighbours(const Features *f, float *rows)
{
    static const int windows[WINDOWS] = {5, 15, 40};
    Py_ssize_t m = f->page.m, b;
    int k, w;
    for (k = 0; m && k < OF_NEIGHBOUR; k++) {
        ROW(rows, k)[0] = ROW(rows, OF_NEIGHBOUR + k)[m - 1] = OUTSIDE;
    }
    for (b = 0; b < m; b++) {
        float features[OF_NEIGHBOUR];
        describe(f, b, features);
        for (k = 0; k < OF_NEIGHBOUR; k++) {
            if (b + 1 < m) {
                ROW(rows, k)[b + 1] = features[k];
            }
            if (b > 0) {
                ROW(rows, OF_NEIGHBOUR + k)[b - 1] = features[k];
            }
        }
    }
    for (w = 0; w < WINDOWS; w++) {
        int64_t words = 0, linked = 0, ends = 0, characters = 0;
        Py_ssize_t begin = 0, end = 0;
        for (b = 0; b < m; b++) {
            for (; end < m && end <= b + windows[w]; end++) {
                words += count_of(f, end, WORDS);
                linked += count_of(f, end, LINKED);
                ends += count_of(f, end, SENTENCE_ENDS);
                characters += count_of(f, end, CHARACTERS);
            }
            for (; begin < b - windows[w]; begin++) {
                words -= count_of(f, begin, WORDS);
                linked -= count_of(f, begin, LINKED);
                ends -= count_of(f, begin, SENTENCE_ENDS);
                characters -= count_of(f, begin, CHARACTERS);
            }
            ROW(rows, 2 * OF_NEIGHBOUR + 3 * w)[b] = (float)log_of((double)words / (double)(end - begin));
            ROW(rows, 2 * OF_NEIGHBOUR + 3 * w + 1)[b] = (float)((double)linked / most((double)characters, 1));
            ROW(rows, 2 * OF_NEIGHBOUR + 3 * w + 2)[b] = (float)((double)ends / most((double)words, 1));
        }
    }
}
