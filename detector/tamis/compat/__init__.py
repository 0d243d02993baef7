"""The functions of other libraries, implemented by Tamis: one changed import line tries it."""
