"""Grammars of sentences, one module a genre, in the form `demo.prose.Prose` reads."""
