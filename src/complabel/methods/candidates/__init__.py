"""Methods that learn from candidate labels, which they derive from the complementary ones."""
