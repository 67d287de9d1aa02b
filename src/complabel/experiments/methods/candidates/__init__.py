"""Methods that learn from candidate labels: all labels that are not complementary."""
