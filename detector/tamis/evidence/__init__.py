"""Everything that moves or overrules the scores of a page-level model, in one ordered list of steps."""
