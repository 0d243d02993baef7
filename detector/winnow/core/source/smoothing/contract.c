/* The merging of what no optimum tells apart: the double of winnow.smoothing.isotonic.skeleton. Integers throughout, so
   both ways give the same answer to the last bit. */
#include "core.h"

/* Parents before their children, and nothing outside the arrays. */
static int is_forest(const int32_t *parent, Py_ssize_t n)
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

/* contract(parent: int32[n], opinion: int64[n], penalty: int64[n], member_of: int64[n])
   -> (node: int64[m], parent: int64[m], levels: int64[depths + 1]) */
PyObject *core_contract(PyObject *module, PyObject *arguments)
{
    PyObject *parent, *opinion, *penalty, *member_of, *result = NULL;
    Array parents = {0}, opinions = {0}, penalties = {0}, members = {0};
    int64_t *memory = NULL;
    int32_t *depth, deepest = 0;
    int64_t *bound, *number, *node, *above, *levels = NULL, *from;
    Py_ssize_t n, m = 0, i;
    int failed = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO", &parent, &opinion, &penalty, &member_of)) {
        return NULL;
    }
    if (array_borrow(&parents, parent, 4, 0, "parent") < 0 || array_borrow(&opinions, opinion, 8, 0, "opinion") < 0
        || array_borrow(&penalties, penalty, 8, 0, "penalty") < 0
        || array_borrow(&members, member_of, 8, 1, "member_of") < 0) {
        goto done;
    }
    n = parents.length;
    if (opinions.length != n || penalties.length != n || members.length != n || !is_forest(ITEMS(parents, int32_t), n)) {
        PyErr_SetString(PyExc_ValueError, "not the arrays of a forest");
        goto done;
    }
    if ((memory = malloc(sizeof(int64_t) * 5 * (size_t)n + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    bound = memory;
    number = memory + n;
    node = memory + 2 * n;
    above = memory + 3 * n;
    depth = (int32_t *)(memory + 4 * n);
    Py_BEGIN_ALLOW_THREADS
    from = ITEMS(members, int64_t);
    m = merge(ITEMS(parents, int32_t), ITEMS(opinions, int64_t), ITEMS(penalties, int64_t), n, bound, depth, from,
              &deepest);
    levels = calloc((size_t)deepest + 3, sizeof(int64_t));
    if (levels == NULL) {
        failed = 1;
    }
    else { /* number level by level, in each in the order of the forest */
        Py_ssize_t seen = 0;
        for (i = 0; i < m; i++) {
            levels[depth[i] + 2]++;
        }
        for (i = 2; i < deepest + 3; i++) {
            levels[i] += levels[i - 1];
        }
        for (i = 0; i < m; i++) {
            number[i] = levels[depth[i] + 1]++;
        }
        for (i = 0; i < n; i++) {
            if (from[i] == seen) { /* the first of its members is its head */
                int32_t p = ITEMS(parents, int32_t)[i];
                node[number[seen]] = i;
                above[number[seen]] = p < 0 ? -1 : from[p];
                seen++;
            }
            from[i] = number[from[i]];
        }
    }
    Py_END_ALLOW_THREADS
    if (failed) {
        PyErr_NoMemory();
        goto done;
    }
    result = Py_BuildValue("NNN", PyByteArray_FromStringAndSize((char *)node, (Py_ssize_t)sizeof(int64_t) * m),
                           PyByteArray_FromStringAndSize((char *)above, (Py_ssize_t)sizeof(int64_t) * m),
                           PyByteArray_FromStringAndSize((char *)levels, (Py_ssize_t)sizeof(int64_t) * (deepest + 2)));
done:
    free(levels);
    free(memory);
    array_release(&members);
    array_release(&penalties);
    array_release(&opinions);
    array_release(&parents);
    return result;
}
