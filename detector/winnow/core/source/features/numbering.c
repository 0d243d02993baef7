/* Equal things numbered alike, by hash tables whose key no page knows. */
#include "features.h"

static uint64_t mixed(uint64_t key, uint64_t seed)
{
    key = (key ^ seed) * 0x9E3779B97F4A7C15u;
    key ^= key >> 32;
    key = (key + seed) * 0xBF58476D1CE4E5B9u;
    return key ^ key >> 29;
}

static int32_t *table_for(Py_ssize_t count, size_t *mask)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)count) {
        slots *= 2;
    }
    *mask = slots - 1;
    return calloc(slots, sizeof(int32_t)); /* 1 + the first that has a key */
}

/* Number the thing whose place in the table was found: as the first one like it, or as the next new one. */
static void settle(int32_t *table, size_t at, Py_ssize_t thing, int32_t *number, int32_t *numbers)
{
    if (!table[at]) {
        table[at] = (int32_t)thing + 1;
        number[thing] = (*numbers)++;
    }
    else {
        number[thing] = number[table[at] - 1];
    }
}

int32_t number_keys(const uint64_t *keys, Py_ssize_t count, uint64_t seed, int32_t *number)
{
    size_t mask;
    int32_t *table = table_for(count, &mask), numbers = 0;
    Py_ssize_t i;
    if (table == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        size_t at = mixed(keys[i], seed) & mask;
        while (table[at] && keys[table[at] - 1] != keys[i]) {
            at = (at + 1) & mask;
        }
        settle(table, at, i, number, &numbers);
    }
    free(table);
    return numbers;
}

static uint64_t hash_of(const Line *line, uint64_t seed)
{
    const char *at = line->begin;
    int32_t left = line->length;
    uint64_t hash = (uint64_t)(uint32_t)left, word;
    for (; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = mixed(hash ^ word, seed);
    }
    word = 0;
    memcpy(&word, at, (size_t)left);
    return mixed(hash ^ word, seed);
}

int32_t number_lines(const Line *lines, Py_ssize_t count, uint64_t seed, int32_t *number)
{
    size_t mask;
    int32_t *table = table_for(count, &mask), numbers = 0;
    Py_ssize_t i;
    if (table == NULL) {
        return -1;
    }
    for (i = 0; i < count; i++) {
        size_t at = hash_of(&lines[i], seed) & mask;
        while (table[at]) {
            const Line *known = &lines[table[at] - 1];
            if (known->length == lines[i].length && memcmp(known->begin, lines[i].begin, (size_t)known->length) == 0) {
                break;
            }
            at = (at + 1) & mask;
        }
        settle(table, at, i, number, &numbers);
    }
    free(table);
    return numbers;
}
