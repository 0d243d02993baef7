/* The first hidden layer of networks: features standardised, weighted and rectified: winnow.models.networks. */
#include "network/products.h"

enum { MOST_PARTS = 4, STRIP = 2 * TILE_ROWS }; /* blocks that are standardised together: those of a cache line */
enum { MEAN, SCALE, PANELS, BIAS, HIDDEN, ARRAYS };

typedef struct {
    Array parts[MOST_PARTS], arrays[ARRAYS];
    int count;
    Py_ssize_t m, k, width, panels;
    float most;
    float *packed; /* [k][STRIP] */
} Layer;

/* Gather the standardised features of the blocks from `begin` on; what lies behind the last nobody reads. */
static void pack(const Layer *layer, Py_ssize_t begin, Py_ssize_t rows)
{
    const float *mean = ITEMS(layer->arrays[MEAN], float), *scale = ITEMS(layer->arrays[SCALE], float);
    float *to = layer->packed;
    int part;
    for (part = 0; part < layer->count; part++) {
        const float *from = ITEMS(layer->parts[part], float) + begin;
        Py_ssize_t features = layer->parts[part].length / layer->m;
        for (; features > 0; features--, from += layer->m, to += STRIP, mean++, scale++) {
            standardise(from, rows, *mean, *scale, layer->most, to);
        }
    }
}

/* What some rows of packed features make of a panel's units. */
static void fill_tile(const Layer *layer, const float *packed, Py_ssize_t begin, Py_ssize_t rows, Py_ssize_t panel)
{
    const float *of_row[TILE_ROWS], *bias = ITEMS(layer->arrays[BIAS], float) + panel * TILE_COLUMNS;
    float *hidden = ITEMS(layer->arrays[HIDDEN], float) + begin * layer->width + panel * TILE_COLUMNS, tile[TILE];
    Py_ssize_t row, columns = layer->width - panel * TILE_COLUMNS;
    columns = columns < TILE_COLUMNS ? columns : TILE_COLUMNS;
    for (row = 0; row < TILE_ROWS; row++) {
        of_row[row] = packed + row;
    }
    products_multiply(of_row, STRIP, layer->k, ITEMS(layer->arrays[PANELS], float) + panel * layer->k * TILE_COLUMNS, tile);
    for (row = 0; row < rows && row < TILE_ROWS; row++) {
        rectify(tile + row * TILE_COLUMNS, bias, columns, hidden + row * layer->width);
    }
}

static void fill(const Layer *layer)
{
    Py_ssize_t begin, panel, row;
    for (begin = 0; begin < layer->m; begin += STRIP) {
        Py_ssize_t rows = layer->m - begin < STRIP ? layer->m - begin : STRIP;
        pack(layer, begin, rows);
        for (panel = 0; panel < layer->panels; panel++) {
            for (row = 0; row < rows; row += TILE_ROWS) {
                fill_tile(layer, layer->packed + row, begin + row, rows - row, panel);
            }
        }
    }
}

/* Borrow the parts of the features and find out the sizes; 1, 0 where they do not fit, -1 with an exception set. */
static int measure(Layer *layer, PyObject *parts)
{
    Py_ssize_t count = PyTuple_Size(parts), k = 0;
    layer->width = layer->arrays[BIAS].length;
    layer->panels = (layer->width + TILE_COLUMNS - 1) / TILE_COLUMNS;
    layer->m = layer->width ? layer->arrays[HIDDEN].length / layer->width : 0;
    if (count < 1 || count > MOST_PARTS || layer->m < 1 || layer->m * layer->width != layer->arrays[HIDDEN].length) {
        return 0;
    }
    for (; layer->count < count; layer->count++) {
        Array *part = &layer->parts[layer->count];
        if (array_borrow(part, PyTuple_GetItem(parts, layer->count), 4, 0, "part") < 0) {
            layer->count++;
            return -1;
        }
        if (part->length % layer->m != 0) {
            layer->count++;
            return 0;
        }
        k += part->length / layer->m;
    }
    layer->k = k;
    return layer->arrays[MEAN].length == k && layer->arrays[SCALE].length == k && k < 1 << 20
           && layer->width < 1 << 20 && layer->arrays[PANELS].length == layer->panels * k * TILE_COLUMNS;
}

/* hidden_layer(parts: tuple of float32[..., m], mean: float32[k], scale: float32[k], most,
                panels: float32[panels, k, TILE_COLUMNS], bias: float32[width], hidden: float32[m, width])

   parts: k features of m blocks, feature by feature; panels: the columns of the weights, filled up with zeros. */
PyObject *core_hidden_layer(PyObject *module, PyObject *arguments)
{
    static const char *const names[ARRAYS] = {"mean", "scale", "panels", "bias", "hidden"};
    static const int sizes[ARRAYS] = {4, 4, 4, 4, 4};
    PyObject *objects[ARRAYS], *parts, *result = NULL;
    Layer layer;
    int fits;
    (void)module;
    memset(&layer, 0, sizeof layer);
    if (!PyArg_ParseTuple(arguments, "O!OOfOOO", &PyTuple_Type, &parts, &objects[MEAN], &objects[SCALE], &layer.most,
                          &objects[PANELS], &objects[BIAS], &objects[HIDDEN])) {
        return NULL;
    }
    if (arrays_borrow(layer.arrays, objects, sizes, names, ARRAYS, HIDDEN) < 0 || (fits = measure(&layer, parts)) < 0) {
        goto done;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "not features and the weights of a layer");
        goto done;
    }
    if ((layer.packed = calloc((size_t)(layer.k * STRIP) + 1, sizeof(float))) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    fill(&layer);
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    free(layer.packed);
    arrays_release(layer.parts, layer.count);
    arrays_release(layer.arrays, ARRAYS);
    return result;
}
