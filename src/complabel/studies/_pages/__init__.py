"""Pages: HTML that needs nothing from outside, rendered from plain data."""

from complabel.studies._pages._demo import render_demo

__all__ = ["render_demo"]
