/* Products of a few rows and a panel of a matrix, summed up in registers. */
#ifndef WINNOW_PRODUCTS_H
#define WINNOW_PRODUCTS_H

#include "core.h"

enum { TILE_ROWS = 8, TILE_COLUMNS = 16 }; /* winnow.models.networks.PANEL is the same */
enum { TILE = TILE_ROWS * TILE_COLUMNS };

/* Write the product of TILE_ROWS rows of k values, `step` items apart, and of a panel, float32[k, TILE_COLUMNS], as
   float32[TILE_ROWS, TILE_COLUMNS]. */
typedef void (*Multiply)(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile);

/* The fastest way on this machine. Its sums differ from those of others in their last bits. */
extern Multiply products_multiply;

/* Write some numbers less a mean, times a scale, between -most and most. */
void standardise(const float *restrict from, Py_ssize_t count, float mean, float scale, float most, float *restrict to);

/* Write some sums with as many numbers, and 0 for those below it. */
void rectify(const float *restrict from, const float *restrict bias, Py_ssize_t count, float *restrict to);

#endif
