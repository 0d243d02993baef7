/* zlib.crc32, which is too small a need to link zlib for. */
#include "core.h"

static uint32_t table[256];

void core_prepare_crc32(void)
{
    uint32_t i;
    for (i = 0; i < 256; i++) {
        uint32_t crc = i;
        int bit;
        for (bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        }
        table[i] = crc;
    }
}

uint32_t core_crc32(uint32_t before, const unsigned char *at, const unsigned char *end)
{
    uint32_t crc = ~before;
    while (at < end) {
        crc = crc >> 8 ^ table[(crc ^ *at++) & 0xFF];
    }
    return ~crc;
}
