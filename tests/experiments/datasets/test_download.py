import hashlib
import http.server
import io
import threading
import zipfile

import numpy as np
import pytest

from complabel._writing import keeping
from complabel.errors import DatasetNotFoundError, DownloadError
from complabel.experiments.datasets import download_dataset, load_dataset
from complabel.experiments.datasets._catalog import CatalogEntry, DataFile, Layout, Statistics

ARFF = (
    "@relation 'toy: -C 3'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n"
    "@attribute x numeric\n@data\n1,0,0,0.5\n0,1,1,2\n"
)


def archive():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as zipped:
        zipped.writestr("Toy.arff", ARFF)
        zipped.writestr("padding.bin", np.random.default_rng(0).bytes(300_000))
    return content.getvalue()


BODY = archive()
GOOD = hashlib.sha256(BODY).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        kind = self.path.split("/")[1]
        if kind == "gone":
            self.send_error(404)
            return
        body = b"<html>moved</html>" if kind == "page" else BODY
        self.send_response(200)
        if kind != "unsized":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if kind == "cut" else body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def offer(catalog, server):
    """Put a dataset "toy" in the catalog, served in the given ways in turn."""

    def make(*kinds, sha256=GOOD):
        address = f"http://127.0.0.1:{server.server_address[1]}"
        mirrors = tuple(f"{address}/{kind}/Toy.zip" for kind in kinds)
        layouts = (
            Layout("mulan", (DataFile("toy.arff"),), DataFile("toy.xml")),
            Layout("meka", (DataFile("Toy.zip", sha256, mirrors),)),
        )
        entry = CatalogEntry(
            "toy", "Toy", "nobody", "https://example.org/toy", "none", Statistics(1, 3), layouts
        )
        catalog({"toy": entry})

    return make


def files(directory):
    return sorted(path.name for path in directory.rglob("*") if path.is_file())


@pytest.mark.parametrize(("kind", "total"), [("fine", len(BODY)), ("unsized", None)])
def test_the_file_arrives_with_progress(tmp_path, offer, kind, total):
    offer(kind)
    seen = []
    found = download_dataset("toy", tmp_path, progress=lambda *now: seen.append(now))
    assert found == [tmp_path / "toy" / "Toy.zip"]
    assert found[0].read_bytes() == BODY
    assert files(tmp_path) == ["Toy.zip"]
    done = [bytes_done for bytes_done, _ in seen]
    assert done == sorted(set(done))
    assert (done[-1], {t for _, t in seen}) == (len(BODY), {total})


def test_load_dataset_fetches_what_is_missing_and_only_once(tmp_path, offer, server):
    offer("fine")
    with pytest.raises(DatasetNotFoundError, match="download=True"):
        load_dataset("toy", data_dir=tmp_path)
    for _ in range(2):
        found = load_dataset("toy", data_dir=tmp_path, download=True)
        np.testing.assert_array_equal(found.Y, [[1, 0, 0], [0, 1, 1]])
    download_dataset("toy", tmp_path)
    assert len(server.asked) == 1


def test_mirrors_are_tried_in_turn(tmp_path, offer, server):
    offer("gone", "cut", "page", "fine")
    download_dataset("toy", tmp_path)
    assert [path.split("/")[1] for path in server.asked] == ["gone", "cut", "page", "fine"]
    assert files(tmp_path) == ["Toy.zip"]


def test_a_command_keeps_another_file_of_the_same_name(tmp_path, offer, server):
    offer("fine")
    own = tmp_path / "toy" / "Toy.zip"
    own.parent.mkdir()
    own.write_bytes(b"mine")
    with keeping(set()), pytest.raises(DownloadError, match="there is a file of this name"):
        download_dataset("toy", tmp_path)
    assert (own.read_bytes(), server.asked, files(tmp_path)) == (b"mine", [], ["Toy.zip"])
    download_dataset("toy", tmp_path)
    assert own.read_bytes() == BODY


@pytest.mark.parametrize(
    ("kind", "sha256", "reason"),
    [
        ("gone", GOOD, "404"),
        ("cut", GOOD, "stopped after|IncompleteRead"),
        ("fine", "0" * 64, f"SHA-256 is {GOOD}, expected 0000"),
        ("page", None, "did not send a .zip file"),
        ("cut", None, "stopped after|IncompleteRead"),
    ],
    ids=["gone", "cut", "other checksum", "page instead", "cut, no checksum"],
)
def test_a_failed_download_leaves_nothing_and_says_what_helps(
    tmp_path, offer, kind, sha256, reason
):
    offer(kind, sha256=sha256)
    with pytest.raises(DownloadError, match=reason) as caught:
        download_dataset("toy", tmp_path)
    assert files(tmp_path) == []
    for part in (f"/{kind}/Toy.zip", "https://example.org/toy", "toy.arff, toy.xml (mulan)"):
        assert part in str(caught.value)
    assert str(tmp_path / "toy") in str(caught.value)


def test_a_damaged_file_is_replaced_and_survives_a_failure(tmp_path, offer):
    target = tmp_path / "toy" / "Toy.zip"
    target.parent.mkdir()
    target.write_bytes(b"damaged")
    offer("cut")
    with pytest.raises(DownloadError):
        download_dataset("toy", tmp_path)
    assert target.read_bytes() == b"damaged"
    offer("fine")
    download_dataset("toy", tmp_path)
    assert target.read_bytes() == BODY
