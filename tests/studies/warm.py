"""Runs complabel's command line in forks of a process that has imported everything already.

Each line of standard input is a JSON object that asks for one run: ``arguments``, ``folder`` (to
work in), ``output`` (file for what it says), ``nobody`` (run without root's rights) and
``largest_file`` (in bytes, or null). The answer is two lines: the process, and its exit code.
"""

import json
import os
import resource
import sys

NOBODY = 65534


def run(request):
    """Be the command line; never returns."""
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["folder"])
    if request["largest_file"] is not None:
        # Python ignores the signal that goes with it: writing more is an error, as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"],) * 2)
    if request["nobody"] and os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    sys.argv = ["complabel", *request["arguments"]]
    from complabel.cli import main

    try:
        main()
    except SystemExit as stop:
        os._exit(stop.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def answer(number):
    """Write a line of the answer."""
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def serve():
    """Answer requests until there are no more."""
    import complabel.cli._running
    import complabel.reports  # noqa: F401  (what commands import inside is here as well)

    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            run(json.loads(line))
        answer(process)
        _, status = os.waitpid(process, 0)
        answer(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    serve()
