"""A server of ``complabel annotate``, and a Chromium without a window."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._frame import MissingError, need


@contextlib.contextmanager
def serving(folder: Path, *things: str) -> Iterator[str]:
    """Start the command, and yield the address that it prints."""
    need("starlette", "uvicorn", "h11")
    out = f"{things[0]}.answers.csv"
    arguments = ["annotate", *things, "--label-names", "labels.txt", "--out", out]
    command = [sys.executable, "-m", "complabel", *arguments, "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        yield next(line.split()[-1] for line in server.stdout or () if "http" in line)
    finally:
        server.terminate()
        server.communicate()


@contextlib.contextmanager
def browsing() -> Iterator[Any]:
    """Open a Chromium without a window."""
    need("selenium")
    from selenium import webdriver

    places = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    lacks = [name for name, place in places.items() if place is None]
    if lacks:
        raise MissingError(f"there is no {lacks[0]}")
    options = webdriver.ChromeOptions()
    options.binary_location = str(places["chromium"])
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1280,800"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(executable_path=places["chromedriver"])
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()
