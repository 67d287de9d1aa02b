"""Sentences that stand in every form of the report."""

from __future__ import annotations

from complabel.reports._terms import DAGGER, FAR, Record, number

_DRAWS = {
    "uniform": "uniform over the irrelevant labels",
    "biased": "more likely a label that seldom occurs with the relevant ones",
}


def method_note(summary: Record) -> str:
    """Say how figures were obtained."""
    study = summary["study"]
    return (
        f"Mean ± sample standard deviation over {study['folds']} folds of a cross-validation,"
        f" seed {study['seed']}. Bold: best of the rows that learn from complementary labels and"
        " are complete."
    )


def mark_note(summary: Record) -> str:
    """Say what the marks mean."""
    return (
        f"• {summary['study']['reference']} is better than the row, ◦ worse, at the 5 % level by a"
        " paired t-test over the folds; in brackets where the corrected resampled t-test, which"
        " allows for overlapping training sets, does not agree."
    )


def published_note(summary: Record) -> str:
    """Say what the published figures are; empty where there are none."""
    if not any(cell["published"] for cell in summary["cells"]):
        return ""
    table = summary["study"]["published"].removeprefix("table")
    return (
        f"Below ours, in brackets: the paper's Table {table} (ten folds), and by how many"
        " published standard deviations ours is better (+) or worse (−)."  # noqa: RUF001
    )


def dagger_note(summary: Record) -> str:
    """Say what the dagger means; empty where there is none."""
    if not any(row["learns_from"] == "relevant" for row in summary["rows"]):
        return ""
    return f"{DAGGER} learns from true labels: a reference, out of competition."


def missing_notes(summary: Record) -> list[str]:
    """Say what is not in the report: datasets that were not at hand, folds not done."""
    units = summary["units"]
    notes = [
        f"Dataset {name} is not in this report: {reason}"
        for name, reason in summary["missing"].items()
    ]
    for status, said in (
        ("failed", "failed"),
        ("running", "were still running"),
        ("pending", "had not been run"),
    ):
        if units[status]:
            notes.append(f"{units[status]} of {units['planned']} units {said}.")
    return notes


def draw_note(draw: Record) -> str:
    """Say how complementary labels were drawn."""
    n = draw["labels_per_row"]
    labels = "one complementary label" if n == 1 else f"{n} complementary labels"
    sharpness = f", sharpness {draw['sharpness']:g}" if draw["scheme"] == "biased" else ""
    return f"{labels} per instance, {_DRAWS[draw['scheme']]}{sharpness}"


def rank_notes(table: Record) -> list[str]:
    """Say what average ranks are over, and what was left out."""
    notes = [f"Ranked on {', '.join(table['datasets'])}; 1 is best."]
    if table["left_out_rows"]:
        notes.append(f"Left out, without a complete dataset: {', '.join(table['left_out_rows'])}.")
    if table["left_out_datasets"]:
        notes.append(
            "Left out, not complete for every row that is ranked:"
            f" {', '.join(table['left_out_datasets'])}."
        )
    if table["critical_difference"] is not None:
        notes.append(
            f"Ranks closer than {table['critical_difference']:.2f} (Nemenyi, 5 % level) do not"
            " differ."
        )
    return notes


def headline(summary: Record) -> str:
    """Say in a sentence how ours agree with the published figures, or who is best."""
    held = [cell for cell in summary["cells"] if cell["advantage"] is not None]
    if held:
        near = sum(abs(cell["advantage"]) <= FAR for cell in held)
        better = sum(cell["advantage"] > FAR for cell in held)
        return (
            f"Of {len(held)} figures that the paper printed, {near} lie within {FAR:g} of its"
            f" standard deviations of ours; {better} of ours are better than that and"
            f" {len(held) - near - better} worse."
        )
    ranked = [
        ranking
        for ranking in summary["rankings"]
        if ranking["ranks"] and ranking["metric"] == "average_precision"
    ]
    return " ".join(
        f"{ranking['rows'][ranking['ranks'].index(min(ranking['ranks']))]} has the best average"
        f" rank by average precision with {ranking['draw']} labels"
        f" ({number(min(ranking['ranks']))} of {len(ranking['rows'])})."
        for ranking in ranked
    )
