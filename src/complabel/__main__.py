"""``python -m complabel`` is the ``complabel`` command."""

from complabel.cli import main

if __name__ == "__main__":
    main()
