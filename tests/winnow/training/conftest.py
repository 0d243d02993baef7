"""Networks are fitted to so little here that it takes longer to compile them well than to fit them."""

import os

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
