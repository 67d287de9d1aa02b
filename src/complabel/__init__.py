"""Multi-label classifiers learned from complementary labels."""

__version__ = "0.1.0"
