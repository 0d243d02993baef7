/* The network of tamis.models.blocks over the blocks of a page. */
#ifndef TAMIS_NETWORK_H
#define TAMIS_NETWORK_H

#include "core.h"

enum {
    MEAN, SCALE, DENSE_WEIGHT, DENSE_BIAS, INPUT_WEIGHT, INPUT_BIAS, STATE_WEIGHT, STATE_BIAS, OUTPUT_WEIGHT, OUTPUT_BIAS,
    PAGE_WEIGHT, LAST_WEIGHT, LAST_BIAS, QUANTA, WEIGHTS
};

enum { LARGEST_INPUT = 1 << 13 }; /* integer that the inputs of layers are rounded to; tamis.models.blocks has it from here */

/* Layers whose weights are integers. */
enum { OF_DENSE, OF_INPUT, OF_STATE, OF_OUTPUT, INTEGER_LAYERS };

/* Weights for f features. */
typedef struct {
    Array arrays[WEIGHTS];
    Py_ssize_t f;
} Network;

/* A converter as in core.h of a tuple of arrays, u units: mean: float32[f], scale: float32[f], dense_weight: int16[f, u],
   dense_bias: float32[u], input_weight: int16[2, u, 3 u], input_bias: float32[2, 3 u], state_weight: int16[2, u, 3 u],
   state_bias: float32[2, 3 u], output_weight: int16[2 u, u], output_bias: float32[u], page_weight: float32[4 u, u],
   last_weight: float32[u], last_bias: float32[1], quanta: float32[INTEGER_LAYERS], what an integer weight of 1 stands for in
   each layer. These weights are in panels of u columns, int16[..., columns / u, rows / 2, u, 2], of an even number of rows;
   that of the state is one panel. */
int in_network(PyObject *tuple, void *network);

void network_release(Network *network);

/* Writes the features of a block. */
typedef void (*WriteFeatures)(void *source, Py_ssize_t block, float *row);

/* Compute float64[m], the probability that each block is content; standardised features are clipped. 0, or -1 without
   memory. */
int network_run(const Network *network, float clip, WriteFeatures write, void *source, Py_ssize_t m, double *probability);

#endif
