/* The inner loops of the networks, for registers of any width, and for those of x86-64 processors since 2013. */
#include "network/products.h"

/* Each sum has a variable of its own, which compilers keep in a register; those of an array they write back every time. */
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)

typedef float Wide __attribute__((vector_size(32)));

static void multiply_anywhere(const float *packed, Py_ssize_t k, const float *panel, float *tile)
{
#define LOAD(row) \
    Wide left##row, right##row; \
    memcpy(&left##row, tile + row * TILE_COLUMNS, sizeof(Wide)); \
    memcpy(&right##row, tile + row * TILE_COLUMNS + 8, sizeof(Wide));
#define ADD(row) \
    left##row += packed[row] * left; \
    right##row += packed[row] * right;
#define STORE(row) \
    memcpy(tile + row * TILE_COLUMNS, &left##row, sizeof(Wide)); \
    memcpy(tile + row * TILE_COLUMNS + 8, &right##row, sizeof(Wide));
    Py_ssize_t i;
    EACH_ROW(LOAD)
    for (i = 0; i < k; i++, packed += TILE_ROWS, panel += TILE_COLUMNS) {
        Wide left, right;
        memcpy(&left, panel, sizeof left);
        memcpy(&right, panel + 8, sizeof right);
        EACH_ROW(ADD)
    }
    EACH_ROW(STORE)
#undef LOAD
#undef ADD
#undef STORE
}

Multiply products_multiply = multiply_anywhere;

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void multiply_fused(const float *packed, Py_ssize_t k, const float *panel,
                                                               float *tile)
{
#define LOAD(row) \
    __m256 left##row = _mm256_loadu_ps(tile + row * TILE_COLUMNS); \
    __m256 right##row = _mm256_loadu_ps(tile + row * TILE_COLUMNS + 8);
#define ADD(row) \
    value = _mm256_broadcast_ss(packed + row); \
    left##row = _mm256_fmadd_ps(value, left, left##row); \
    right##row = _mm256_fmadd_ps(value, right, right##row);
#define STORE(row) \
    _mm256_storeu_ps(tile + row * TILE_COLUMNS, left##row); \
    _mm256_storeu_ps(tile + row * TILE_COLUMNS + 8, right##row);
    Py_ssize_t i;
    EACH_ROW(LOAD)
    for (i = 0; i < k; i++, packed += TILE_ROWS, panel += TILE_COLUMNS) {
        __m256 left = _mm256_loadu_ps(panel), right = _mm256_loadu_ps(panel + 8), value;
        EACH_ROW(ADD)
    }
    EACH_ROW(STORE)
#undef LOAD
#undef ADD
#undef STORE
}

void core_prepare_products(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        products_multiply = multiply_fused;
    }
}
#else
void core_prepare_products(void)
{
}
#endif
