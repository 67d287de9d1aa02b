"""Save fitted classifiers and load them again, without running anything that a file holds."""

__all__ = ()
