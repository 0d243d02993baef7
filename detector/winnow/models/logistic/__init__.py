"""The papers' own page-level model: logistic regressions over features of elements, with a layout without a browser."""
