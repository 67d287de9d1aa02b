"""
From a Label Studio export to predictions
=========================================

You have an export of Label Studio: people ticked what applies, in a form of their own. You get
a model, and predictions for items that nobody annotated.

The export is written here, as Label Studio writes it: 200 pictures of handwritten digits and two
people. One task in twenty is skipped, one in twenty has no annotation, and one in twenty is a form
that somebody submitted without a tick. The people are simulated. Each picture
shows at least one digit, so a form without a tick is a mistake. They make no other mistakes.
"""

# %%
# The export
# ----------

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.errors import ComplabelError
from complabel.importers import Options, import_answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

digits = make_digits()
X, Y = digits.X, digits.Y
names = [f"digit {k}" for k in range(10)]
items = [f"{row:04}.png" for row in range(200)]


def task(row):
    """Return one task, with the annotation of one person, or with none."""
    ticked = [name for name, yes in zip(names, Y[row], strict=True) if yes]
    choices = {"from_name": "shows", "to_name": "image", "type": "choices"}
    filled = [{**choices, "value": {"choices": ticked}}]
    annotation = {
        "completed_by": {"email": ["ann@example.org", "ben@example.org"][row % 2]},
        "was_cancelled": row % 20 == 19,  # skipped
        "lead_time": 5.5,
        "result": [] if row % 20 in (9, 19) else filled,  # 9: submitted without a tick
    }
    annotations = [] if row % 20 == 4 else [annotation]  # 4: nobody has seen the task
    return {"id": row, "data": {"item": items[row]}, "annotations": annotations}


folder = Path(tempfile.mkdtemp())
export = folder / "export.json"
export.write_text(json.dumps([task(row) for row in range(200)]))

# %%
# Nothing is guessed
# ------------------
# The file does not say whether a chosen label applies. So the importer refuses, and names the
# options that answer.

try:
    import_answers(export)
except ComplabelError as error:
    print(str(error).replace(f"{folder}/", ""))

# %%
# Say what a choice means
# -----------------------
# A chosen digit is there, and people ticked *all* digits that are there. So the others are not. The
# importer says what became of every task. A form without a tick says that no digit is there.

table, tally = import_answers(
    export, options=Options(present=("shows",), question="ticked", label_names=tuple(names))
)
answers = Answers.from_table(table, items=items, label_names=names)
for what, number in tally.counts.items():
    if number:
        print(f"{number:5}  {what}")
print(answers)

# %%
# Learn, and predict
# ------------------
# How good is the model, with 25, 50, 100 and all tasks? The true labels of other pictures tell.

X_test, Y_test = X[4000:], Y[4000:]
sizes, curve = [25, 50, 100, 200], []
for n in sizes:
    answered = np.unique(answers.item[answers.item < n])
    model = SelectionLikelihoodClassifier(kernel="linear").fit(X[answered], answers[answered])
    curve.append(average_precision(Y_test, model.predict_proba(X_test)))

fig, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(sizes, curve, "o-", color="#0072B2")
axis.set(
    xlabel="tasks in the export",
    ylabel="average precision",
    ylim=(0.3, 1),
    xlim=(0, sizes[-1] * 1.1),
)
for n, value in zip(sizes, curve, strict=True):
    axis.annotate(
        f"{value:.2f}", (n, value), xytext=(0, 9), textcoords="offset points", ha="center"
    )
axis.spines[["top", "right"]].set_visible(False)

# %%
# The likeliest digits of pictures that nobody annotated:

probabilities = model.predict_proba(X_test[:3])
for row, of_picture in enumerate(probabilities):
    best = np.argsort(-of_picture)[:3]
    print(f"picture {row}:", ", ".join(f"{names[k]} {of_picture[k]:.0%}" for k in best))

# %%
# And then
# --------
# On the command line: ``complabel import``, ``fit`` and ``predict``: :doc:`/answers`. How to ask in
# Label Studio, so that the export needs no option: :doc:`/tools`.
