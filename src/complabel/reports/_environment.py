"""Where pages find their templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from complabel.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Template


def get_template(name: str) -> Template:
    """Return a template; everything it is given is escaped, and nothing may be missing.

    Parameters
    ----------
    name : str
        A file in ``templates``.

    Returns
    -------
    jinja2.Template

    Raises
    ------
    InputError
        If Jinja2 or matplotlib, which every page needs, is not installed.
    """
    try:
        import matplotlib  # noqa: F401  # only to find out whether it is there
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise InputError(
            f"a page needs {error.name}, which is not installed:"
            ' run pip install "complabel[report]"'
        ) from error
    environment = Environment(
        loader=PackageLoader("complabel.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
