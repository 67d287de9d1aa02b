from complabel import __version__

project = "complabel"
author = "The complabel developers"
copyright = "2026, The complabel developers"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "complabel"
autosummary_generate = True
numpydoc_show_class_members = False
myst_heading_anchors = 3
