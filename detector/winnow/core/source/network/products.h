/* Products of a few rows and a panel of a matrix, summed up in registers. */
#ifndef WINNOW_PRODUCTS_H
#define WINNOW_PRODUCTS_H

#include "core.h"

enum { TILE_ROWS = 6, TILE_COLUMNS = 16 }; /* as many sums as registers hold; ensemble.PANEL is the same */
enum { TILE = TILE_ROWS * TILE_COLUMNS };

/* Add to float32[TILE_ROWS, TILE_COLUMNS] the product of rows, packed as float32[k, TILE_ROWS], and of a panel,
   float32[k, TILE_COLUMNS]. */
typedef void (*Multiply)(const float *packed, Py_ssize_t k, const float *panel, float *tile);

/* The fastest way on this machine. Its sums differ from those of others in their last bits. */
extern Multiply products_multiply;

#endif
