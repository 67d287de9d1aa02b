"""For pages: tables, figures and claims from stored results (docs/evidence/results).

- ``{results} NAME[factor=value]``: a table; ``:columns: fit an_best=AN*``, ``:across: set``,
  ``:format: .2f``, ``:bold: max``, ``:rows: method`` (a row for each figure), ``:error: _sd``
  (± NAME_sd). A line below says how its figures were measured.
- ``{value}`NAME[factor=value].figure:.3f` ``: a figure in a sentence.
- ``{claims} PART``: the claims about one part; ``{claim}`name` ``: the sentence of one.
"""

import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import _claims, _pages, _results


class FromResults(Directive):
    """A directive that writes Markdown."""

    required_arguments, final_argument_whitespace = 1, True

    def run(self):
        """Parse the Markdown in the place of the directive."""
        self.state.document.settings.env.note_reread()  # results change, and not the page
        part = nodes.container()
        lines = self.markdown(self.arguments[0]).splitlines()
        self.state.nested_parse(StringList(lines, self.state.document["source"]), 0, part)
        return part.children


class Table(FromResults):
    """The means of a benchmark."""

    option_spec = dict.fromkeys(
        ("columns", "across", "format", "bold", "rows", "error"), directives.unchanged
    )

    def markdown(self, text):
        """Return the table, and how it was measured."""
        return _pages.of_page(text, self.options)


class Claims(FromResults):
    """All claims about one part of the evidence."""

    def markdown(self, part):
        """Return a table with a row for each claim."""
        return _claims.markdown(part)


def value(_, rawtext, text, lineno, inliner, *_more, **_options):
    """Return a figure."""
    return of_text(_results.figure, rawtext, text, lineno, inliner)


def claim(_, rawtext, text, lineno, inliner, *_more, **_options):
    """Return the sentence of a claim."""
    return of_text(_claims.sentence, rawtext, text, lineno, inliner)


def of_text(read, rawtext, text, lineno, inliner):
    """Return what is read by a name, or a warning of Sphinx."""
    inliner.document.settings.env.note_reread()
    try:
        return [nodes.Text(read(text))], []
    except _results.NoFigureError as error:
        return [nodes.Text(rawtext)], [inliner.reporter.warning(str(error), line=lineno)]


def setup(app):
    """Teach Markdown these words."""
    app.add_directive("results", Table)
    app.add_directive("claims", Claims)
    app.add_role("value", value)
    app.add_role("claim", claim)
    return {"parallel_read_safe": True}
