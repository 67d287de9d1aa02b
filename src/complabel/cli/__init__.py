"""The command line: parse, call, show. Commands import what they need when they run."""

from complabel.cli._app import main

__all__ = ["main"]
