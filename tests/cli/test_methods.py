"""`complabel methods`: the registry as a table and as JSON."""

import json
import pkgutil

from complabel.methods import METHODS


def test_the_table_has_every_method_in_order(run):
    code, out, err = run("methods")
    assert (code, err) == (0, "")
    first = [line.split()[0] for line in out.splitlines() if line.startswith("  ") and line.split()]
    assert [word for word in first if word in METHODS] == list(METHODS)
    assert "IJCAI 2023" in out
    assert ":class:" not in out


def test_json_says_what_to_import(run):
    code, out, _ = run("methods", "--as-json")
    assert code == 0
    described = {entry["name"]: entry for entry in json.loads(out)}
    assert list(described) == list(METHODS)
    for name, entry in described.items():
        cls = pkgutil.resolve_name(entry["class"].replace("methods.", "methods:"))
        assert cls is METHODS[name].classifier
        assert sorted(entry["parameters"]) == sorted(cls().get_params(deep=False))
        assert entry["summary"].endswith(".")
    assert {name for name in described if described[name]["learns_from"] == "relevant"} == {
        "supervised",
        "supervised-bce",
    }
    assert described["selection-likelihood"]["learns_from"] == "answers"
    assert described["unbiased-bce"]["references"] == "The paper of gdf."
    assert described["prior"]["references"] is None


OWN = """
from complabel.methods import ComplementaryClassifier

class Own(ComplementaryClassifier):
    \'\'\'Learns nothing.\'\'\'
"""


def test_methods_of_installed_packages_are_listed_and_failures_are_said(run, monkeypatch, tmp_path):
    (tmp_path / "own_listed_method.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    installed = tmp_path / "own-1.0.dist-info"
    installed.mkdir()
    (installed / "entry_points.txt").write_text(
        "[complabel.methods]\nown = own_listed_method:Own\ngone = no_such_module:X\n"
    )
    code, out, err = run("methods", "--as-json")
    assert code == 0
    own = json.loads(out)[-1]
    assert (own["name"], own["summary"]) == ("own", "Learns nothing.")
    assert own["class"] == "own_listed_method.Own"
    assert "the method 'gone' cannot be imported" in err
