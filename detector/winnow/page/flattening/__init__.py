"""From an lxml tree to flat arrays: by the compiled core, or by a walk over its elements."""
