"""Plain methods that any other should clear."""
