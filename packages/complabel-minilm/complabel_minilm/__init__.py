"""The weights and the tokenizer of all-MiniLM-L6-v2 for complabel; no code."""
