"""The compiled core: what costs most of a page's time, in C, where the package was built with a compiler.

Every function of it is the double of one in numpy, which works where there is no core, and which the tests hold it to.
``WINNOW_CORE=0`` in the environment leaves the core out.
"""

from winnow.core.loading import SEED, Core, compiled, description, load_from, numpy_only

__all__ = ["SEED", "Core", "compiled", "description", "load_from", "numpy_only"]
