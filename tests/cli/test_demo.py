"""The demonstration as it is typed, on few pictures."""

import functools

from complabel import reports
from complabel.reports import _demo


def test_it_prints_the_ways_the_meaning_the_page_and_the_next_command(run, tmp_path, monkeypatch):
    few = functools.partial(reports.run_demo, n_pictures=100, n_questions=20)
    summaries = []

    def remembered(**given):
        summaries.append(few(**given))
        return summaries[0]

    monkeypatch.setattr(reports, "run_demo", remembered)
    monkeypatch.setattr(_demo, "_SLOWER", (8.0,))
    target = tmp_path / "page.html"
    code, out, err = run("demo", "--seed", 2, "--output", target)
    (summary,) = summaries
    assert code == 0
    assert summary["seed"] == 2
    lines = [" ".join(line.split()) for line in out.splitlines()]
    titles = summary["titles"]
    for name, figures in (summary["ways"] | summary["references"]).items():
        shown = f"{figures['average_precision']:.3f} {100 * figures['found']:.0f} %"
        assert f"{titles[name]} {shown}" in lines
    assert lines[-3:] == [
        summary["meaning"],
        f"wrote {target}: open it in a browser",
        "next: complabel import --help",
    ]
    assert "80 pictures, at most one answer each; tested on 20 others" in out
    assert "way of asking 5 of 5" in err  # a log hears of it, too
    assert target.read_text(encoding="utf-8") == reports.render_demo(summary)
