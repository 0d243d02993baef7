/* XXH3 without a seed, 64 bits, by its specification (Yann Collet, xxHash, BSD 2-clause); xxhash does the same for Python,
   and the tests compare the two. */
#include "fingerprints.h"

#define PRIME64_1 0x9E3779B185EBCA87u
#define PRIME64_2 0xC2B2AE3D27D4EB4Fu
#define PRIME64_3 0x165667B19E3779F9u
#define PRIME64_4 0x85EBCA77C2B2AE63u
#define PRIME64_5 0x27D4EB2F165667C5u
#define PRIME32_1 0x9E3779B1u
#define PRIME32_2 0x85EBCA77u
#define PRIME32_3 0xC2B2AE3Du

static const unsigned char secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static inline uint64_t read32(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static inline uint64_t read64(const unsigned char *p)
{
    return read32(p) | read32(p + 4) << 32;
}

static inline uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* Both halves of a product of 128 bits, combined. */
static inline uint64_t folded(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu), left = (a >> 32) * (b & 0xFFFFFFFFu);
    uint64_t right = (a & 0xFFFFFFFFu) * (b >> 32), high = (a >> 32) * (b >> 32);
    uint64_t middle = (low >> 32) + (left & 0xFFFFFFFFu) + right;
    return (middle << 32 | (low & 0xFFFFFFFFu)) ^ (high + (left >> 32) + (middle >> 32));
#endif
}

static inline uint64_t avalanche(uint64_t hash)
{
    hash = (hash ^ hash >> 37) * 0x165667919E3779F9u;
    return hash ^ hash >> 32;
}

static inline uint64_t long_avalanche(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * PRIME64_2;
    hash = (hash ^ hash >> 29) * PRIME64_3;
    return hash ^ hash >> 32;
}

static inline uint64_t of_16(const unsigned char *p, const unsigned char *key)
{
    return folded(read64(p) ^ read64(key), read64(p + 8) ^ read64(key + 8));
}

static uint64_t of_up_to_16(const unsigned char *p, size_t length)
{
    if (length > 8) {
        uint64_t low = read64(p) ^ (read64(secret + 24) ^ read64(secret + 32));
        uint64_t high = read64(p + length - 8) ^ (read64(secret + 40) ^ read64(secret + 48));
        return avalanche(length + __builtin_bswap64(low) + high + folded(low, high));
    }
    if (length >= 4) {
        uint64_t hash = (read32(p + length - 4) + (read32(p) << 32)) ^ (read64(secret + 8) ^ read64(secret + 16));
        hash ^= rotated(hash, 49) ^ rotated(hash, 24);
        hash *= 0x9FB21C651E98DF25u;
        hash ^= (hash >> 35) + length;
        hash *= 0x9FB21C651E98DF25u;
        return hash ^ hash >> 28;
    }
    if (length) {
        uint64_t all = (uint64_t)p[0] << 16 | (uint64_t)p[length >> 1] << 24 | p[length - 1] | (uint64_t)length << 8;
        return long_avalanche(all ^ (read32(secret) ^ read32(secret + 4)));
    }
    return long_avalanche(read64(secret + 56) ^ read64(secret + 64));
}

/* Add 64 bytes. */
static void accumulate(uint64_t *sums, const unsigned char *p, const unsigned char *key)
{
    int i;
    for (i = 0; i < 8; i++) {
        uint64_t value = read64(p + 8 * i), keyed = value ^ read64(key + 8 * i);
        sums[i ^ 1] += value;
        sums[i] += (keyed & 0xFFFFFFFFu) * (keyed >> 32);
    }
}

static uint64_t of_more_than_240(const unsigned char *p, size_t length)
{
    uint64_t sums[8] = {PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1};
    uint64_t hash = length * PRIME64_1;
    size_t stripe;
    int i;
    for (stripe = 0; stripe < (length - 1) / 64; stripe++) {
        accumulate(sums, p + 64 * stripe, secret + 8 * (stripe % 16));
        for (i = 0; i < 8 && stripe % 16 == 15; i++) {
            sums[i] = (sums[i] ^ sums[i] >> 47 ^ read64(secret + 128 + 8 * i)) * PRIME32_1;
        }
    }
    accumulate(sums, p + length - 64, secret + 121);
    for (i = 0; i < 4; i++) {
        hash += folded(sums[2 * i] ^ read64(secret + 11 + 16 * i), sums[2 * i + 1] ^ read64(secret + 19 + 16 * i));
    }
    return avalanche(hash);
}

uint64_t hash_bytes(const unsigned char *p, size_t length)
{
    uint64_t hash = length * PRIME64_1;
    size_t i;
    if (length <= 16) {
        return of_up_to_16(p, length);
    }
    if (length > 240) {
        return of_more_than_240(p, length);
    }
    if (length <= 128) {
        for (i = (length - 1) / 32 + 1; i-- > 0;) { /* from the middle to both ends */
            hash += of_16(p + 16 * i, secret + 32 * i) + of_16(p + length - 16 * (i + 1), secret + 32 * i + 16);
        }
        return avalanche(hash);
    }
    for (i = 0; i < 8; i++) {
        hash += of_16(p + 16 * i, secret + 16 * i);
    }
    hash = avalanche(hash);
    for (; i < length / 16; i++) {
        hash += of_16(p + 16 * i, secret + 16 * (i - 8) + 3);
    }
    return avalanche(hash + of_16(p + length - 16, secret + 136 - 17));
}

/* hash_bytes(bytes) -> int */
PyObject *core_hash_bytes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Span bytes;
    if (!PyArg_ParseTuple(arguments, "O&", in_bytes, &bytes)) {
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(hash_bytes(bytes.begin, (size_t)(bytes.end - bytes.begin)));
}
