/* The merging of what no optimum tells apart: the double of winnow.smoothing.isotonic.skeleton. Integers throughout, so
   both ways give the same answer to the last bit. */
#include "smoothing/smoothing.h"

int is_forest(const int32_t *parent, Py_ssize_t n)
{
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        if (parent[i] < -1 || parent[i] >= i) {
            return 0;
        }
    }
    return 1;
}

/* head: number of the node of the skeleton that each node is merged into, in the order of the full forest, and the
   depth of each node of the skeleton; returns how many there are. */
static Py_ssize_t merge(const int32_t *parent, const int64_t *opinion, const int64_t *penalty, Py_ssize_t n,
                        int64_t *bound, int32_t *depth, int64_t *head, int32_t *deepest)
{
    Py_ssize_t i, m = 0;
    memcpy(bound, opinion, sizeof(int64_t) * (size_t)n);
    for (i = n - 1; i >= 0; i--) {
        head[i] = 0;
        if (parent[i] >= 0) {
            int merged = penalty[i] >= bound[i];
            bound[parent[i]] += merged ? bound[i] : penalty[i];
            head[i] = merged ? -1 : 0;
        }
    }
    *deepest = 0;
    for (i = 0; i < n; i++) {
        if (head[i] < 0) {
            head[i] = head[parent[i]];
            continue;
        }
        depth[m] = parent[i] < 0 ? 0 : depth[head[parent[i]]] + 1;
        if (depth[m] > *deepest) {
            *deepest = depth[m];
        }
        head[i] = m++;
    }
    return m;
}

int skeleton_of(Skeleton *skeleton, const int32_t *parent, const int64_t *opinion, const int64_t *penalty, Py_ssize_t n,
                int64_t *member_of)
{
    Py_ssize_t seen = 0, i, m;
    int64_t *number, *levels;
    int32_t *depth;
    memset(skeleton, 0, sizeof *skeleton);
    if ((skeleton->memory = malloc(sizeof(int64_t) * 5 * (size_t)n + 1)) == NULL) {
        return -1;
    }
    number = skeleton->memory + n;
    skeleton->node = skeleton->memory + 2 * n;
    skeleton->parent = skeleton->memory + 3 * n;
    depth = (int32_t *)(skeleton->memory + 4 * n);
    m = merge(parent, opinion, penalty, n, skeleton->memory, depth, member_of, &skeleton->deepest);
    if ((levels = calloc((size_t)skeleton->deepest + 3, sizeof(int64_t))) == NULL) {
        return -1;
    }
    for (i = 0; i < m; i++) { /* number level by level, in each in the order of the forest */
        levels[depth[i] + 2]++;
    }
    for (i = 2; i < skeleton->deepest + 3; i++) {
        levels[i] += levels[i - 1];
    }
    for (i = 0; i < m; i++) {
        number[i] = levels[depth[i] + 1]++;
    }
    for (i = 0; i < n; i++) {
        if (member_of[i] == seen) { /* the first of its members is its head */
            skeleton->node[number[seen]] = i;
            skeleton->parent[number[seen]] = parent[i] < 0 ? -1 : member_of[parent[i]];
            seen++;
        }
        member_of[i] = number[member_of[i]];
    }
    skeleton->levels = levels;
    skeleton->m = m;
    return 0;
}

void skeleton_free(Skeleton *skeleton)
{
    free(skeleton->levels);
    free(skeleton->memory);
    skeleton->levels = skeleton->memory = NULL;
}

static PyObject *integers(const int64_t *from, Py_ssize_t count)
{
    return PyByteArray_FromStringAndSize((const char *)from, (Py_ssize_t)sizeof(int64_t) * count);
}

/* contract(parent: int32[n], opinion: int64[n], penalty: int64[n], member_of: int64[n])
   -> (node: int64[m], parent: int64[m], levels: int64[depths + 1]) */
PyObject *core_contract(PyObject *module, PyObject *arguments)
{
    enum { PARENT, OPINION, PENALTY, MEMBER_OF, ARRAYS };
    static const char *const names[ARRAYS] = {"parent", "opinion", "penalty", "member_of"};
    static const int sizes[ARRAYS] = {4, 8, 8, 8};
    PyObject *objects[ARRAYS], *result = NULL;
    Array arrays[ARRAYS] = {{{0}, 0, 0}};
    Skeleton skeleton = {0};
    Py_ssize_t n;
    int failed;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO", &objects[PARENT], &objects[OPINION], &objects[PENALTY],
                          &objects[MEMBER_OF])) {
        return NULL;
    }
    if (arrays_borrow(arrays, objects, sizes, names, ARRAYS, MEMBER_OF) < 0) {
        goto done;
    }
    n = arrays[PARENT].length;
    if (arrays[OPINION].length != n || arrays[PENALTY].length != n || arrays[MEMBER_OF].length != n
        || !is_forest(ITEMS(arrays[PARENT], int32_t), n)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of a forest");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    failed = skeleton_of(&skeleton, ITEMS(arrays[PARENT], int32_t), ITEMS(arrays[OPINION], int64_t),
                         ITEMS(arrays[PENALTY], int64_t), n, ITEMS(arrays[MEMBER_OF], int64_t));
    Py_END_ALLOW_THREADS
    if (failed) {
        PyErr_NoMemory();
        goto done;
    }
    result = Py_BuildValue("NNN", integers(skeleton.node, skeleton.m), integers(skeleton.parent, skeleton.m),
                           integers(skeleton.levels, skeleton.deepest + 2));
done:
    skeleton_free(&skeleton);
    arrays_release(arrays, ARRAYS);
    return result;
}
