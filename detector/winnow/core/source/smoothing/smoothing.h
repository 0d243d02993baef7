/* The steps of the smoother, as its files share them. */
#ifndef WINNOW_SMOOTHING_H
#define WINNOW_SMOOTHING_H

#include "core.h"

/* The nodes that can start a section, m of the n of a forest, numbered level by level: smoothing.isotonic.skeleton. */
typedef struct {
    int64_t *memory; /* of all arrays but the levels */
    int64_t *node, *parent; /* m */
    int64_t *levels; /* first number of each level, and m at the end */
    int32_t deepest; /* number of the last level */
    Py_ssize_t m;
} Skeleton;

/* Parents before their children, and nothing outside the arrays. */
int is_forest(const int32_t *parent, Py_ssize_t n);

/* Merge a forest; member_of: int64[n]. 0, or -1 without memory; skeleton_free() is needed in both cases. */
int skeleton_of(Skeleton *skeleton, const int32_t *parent, const int64_t *opinion, const int64_t *penalty, Py_ssize_t n,
                int64_t *member_of);

void skeleton_free(Skeleton *skeleton);

/* A skeleton of m nodes with n members, whose scores are numbers of `size` distinct ones, X. */
typedef struct {
    const int64_t *parent, *member_of, *index, *weight, *X, *penalty, *lowest;
    Py_ssize_t m, n, size, roots;
    int64_t *chosen; /* m: number of the score of each node */
    int64_t *cost, *slope, *begin, *member, *row; /* of the solution itself */
    int64_t *plain, *next; /* m: the last of a node's plain children, and the one before each; -1 for none */
} Rows;

/* Choose the scores; `cells` is the most of them that may be needed. 1, 0 where there are more, -1 without memory. It needs
   no GIL. */
int rows_solve(Rows *rows, Py_ssize_t cells, int64_t *optimum);

#endif
