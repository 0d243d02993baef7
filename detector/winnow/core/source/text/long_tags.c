/* Whether a document may have a tag with very many attributes, which libxml2 takes quadratic time for. */
#include "core.h"

#include <string.h>

enum { PLAIN = 2000, VALUES = 500 };

/* Whether a tag goes on for PLAIN bytes without a quote, has VALUES quoted values, or one that never ends. */
static int is_long(const char *at, const char *end)
{
    int values = 0;
    const char *piece = at;
    for (; at < end && *at != '>'; at++) {
        if (*at == '"' || *at == '\'') {
            at = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (at == NULL || ++values == VALUES) {
                return 1;
            }
            piece = at + 1;
        }
        else if (at - piece >= PLAIN) {
            return 1;
        }
    }
    return 0;
}

/* has_long_tag(html) -> bool

   Each "<" with a letter behind it may begin a tag. Linear: only the PLAIN bytes before a quote can lead to it. */
PyObject *core_has_long_tag(PyObject *module, PyObject *arguments)
{
    const char *html, *at, *end;
    Py_ssize_t size;
    int found = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y#", &html, &size)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    end = html + size;
    for (at = html; !found && (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        found = end - at > 1 && ((at[1] | 32) >= 'a' && (at[1] | 32) <= 'z') && is_long(at + 1, end);
    }
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(found);
}
