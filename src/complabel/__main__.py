"""``python -m complabel`` is the ``complabel`` command."""

import sys


def main() -> None:
    """Run the command, whose imports are part of it; Ctrl-C ends it with 130 at any moment."""
    try:
        from complabel.cli import main as run

        run()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != 130:
            raise
        sys.stderr.write("stopped by Ctrl-C\n")
        exec("")  # or Python itself ends by the signal, if this came in the exec of a dataclass
        sys.exit(130)


if __name__ == "__main__":
    main()
