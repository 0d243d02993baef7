/* Products of a few rows and a panel of a matrix, summed in registers: for registers of any width, and for those of
   x86-64 processors since 2013 and 2017. Each sum has a variable of its own, which compilers keep in a register; those of
   an array they write back every time. */
#include "core.h"

enum { TILE = TILE_ROWS * TILE_COLUMNS };

#define EACH_OF_FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_ROW(DO) EACH_OF_FOUR(DO) DO(4) DO(5) DO(6) DO(7)
#define BEGIN(row) const float *at##row = rows[row];

typedef float Four __attribute__((vector_size(16)));

/* A quarter of the tile: four rows and eight columns. */
static void multiply_quarter(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile)
{
#define CLEAR(row) Four left##row = {0}, right##row = {0};
#define ADD(row) \
    left##row += at##row[i * step] * left; \
    right##row += at##row[i * step] * right;
#define STORE(row) \
    memcpy(tile + row * TILE_COLUMNS, &left##row, sizeof(Four)); \
    memcpy(tile + row * TILE_COLUMNS + 4, &right##row, sizeof(Four));
    Py_ssize_t i;
    EACH_OF_FOUR(BEGIN)
    EACH_OF_FOUR(CLEAR)
    for (i = 0; i < k; i++, panel += TILE_COLUMNS) {
        Four left, right;
        memcpy(&left, panel, sizeof left);
        memcpy(&right, panel + 4, sizeof right);
        EACH_OF_FOUR(ADD)
    }
    EACH_OF_FOUR(STORE)
#undef CLEAR
#undef ADD
#undef STORE
}

static void multiply_anywhere(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile)
{
    int row, column;
    for (row = 0; row < TILE_ROWS; row += 4) {
        for (column = 0; column < TILE_COLUMNS; column += 8) {
            multiply_quarter(rows + row, step, k, panel + column, tile + row * TILE_COLUMNS + column);
        }
    }
}

/* The fastest on this machine. Results differ between processors in their last bits. */
Multiply core_multiply = multiply_anywhere;
int core_register_bytes = 16;

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void multiply_half_fused(const float *const *rows, Py_ssize_t step,
                                                                    Py_ssize_t k, const float *panel, float *tile)
{
#define CLEAR(row) __m256 left##row = _mm256_setzero_ps(), right##row = _mm256_setzero_ps();
#define ADD(row) \
    value = _mm256_broadcast_ss(at##row + i * step); \
    left##row = _mm256_fmadd_ps(value, left, left##row); \
    right##row = _mm256_fmadd_ps(value, right, right##row);
#define STORE(row) \
    _mm256_storeu_ps(tile + row * TILE_COLUMNS, left##row); \
    _mm256_storeu_ps(tile + row * TILE_COLUMNS + 8, right##row);
    Py_ssize_t i;
    EACH_OF_FOUR(BEGIN)
    EACH_OF_FOUR(CLEAR)
    for (i = 0; i < k; i++, panel += TILE_COLUMNS) {
        __m256 left = _mm256_loadu_ps(panel), right = _mm256_loadu_ps(panel + 8), value;
        EACH_OF_FOUR(ADD)
    }
    EACH_OF_FOUR(STORE)
#undef CLEAR
#undef ADD
#undef STORE
}

static void multiply_fused(const float *const *rows, Py_ssize_t step, Py_ssize_t k, const float *panel, float *tile)
{
    multiply_half_fused(rows, step, k, panel, tile);
    multiply_half_fused(rows + TILE_ROWS / 2, step, k, panel, tile + TILE / 2);
}

__attribute__((target("avx512f"))) static void multiply_wide(const float *const *rows, Py_ssize_t step, Py_ssize_t k,
                                                             const float *panel, float *tile)
{
#define CLEAR(row) __m512 sum##row = _mm512_setzero_ps();
#define ADD(row) sum##row = _mm512_fmadd_ps(_mm512_set1_ps(at##row[i * step]), items, sum##row);
#define STORE(row) _mm512_storeu_ps(tile + row * TILE_COLUMNS, sum##row);
    Py_ssize_t i;
    EACH_ROW(BEGIN)
    EACH_ROW(CLEAR)
    for (i = 0; i < k; i++, panel += TILE_COLUMNS) {
        __m512 items = _mm512_loadu_ps(panel);
        EACH_ROW(ADD)
    }
    EACH_ROW(STORE)
#undef CLEAR
#undef ADD
#undef STORE
}

static int limit_registers(int most)
{
    __builtin_cpu_init();
    if (most >= 64 && __builtin_cpu_supports("avx512f")) {
        core_multiply = multiply_wide;
        return core_register_bytes = 64;
    }
    if (most >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        core_multiply = multiply_fused;
        return core_register_bytes = 32;
    }
    core_multiply = multiply_anywhere;
    return core_register_bytes = 16;
}
#else
static int limit_registers(int most)
{
    (void)most;
    return 16;
}
#endif

void core_prepare_products(void)
{
    limit_registers(64);
}

PyObject *core_limit_registers(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    int most;
    return PyArg_ParseTuple(arguments, "i", &most) ? PyLong_FromLong(limit_registers(most)) : NULL;
}
