"""What the paper printed: its tables, its settings and the plans that repeat its experiments."""

from complabel.paper._tables import Published, published_cells, published_results

__all__ = ["Published", "published_cells", "published_results"]
