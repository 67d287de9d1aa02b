"""
A table of codes: 1, 0 and blank
================================

You have a table with a column for each label: 1, 0, and many blanks, which are missing labels.
You get a model, if you say what a blank means. Read wrongly, it is a model that believes hardly
anything.

The table is simulated: people wrote down three of ten of the labels that apply, and one of ten of
the labels that do not.
"""

# %%
# The table
# ---------

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.errors import ComplabelError
from complabel.importers import Options, import_answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

labels = ["cough", "fever", "fracture", "oedema", "rash"]
data = make_synthetic(1600, n_features=15, n_labels=5, random_state=0)
X, Y = np.asarray(data.X), data.Y
rng = np.random.default_rng(0)
written = rng.random(Y.shape) < np.where(Y == 1, 0.3, 0.1)
codes = np.where(written, Y.astype(str), "")[:1000]
items = [f"p{row:03}" for row in range(1000)]

path = Path(tempfile.mkdtemp()) / "codes.csv"
with path.open("w", newline="") as file:
    csv.writer(file).writerows(
        [["item", *labels], *([i, *c] for i, c in zip(items, codes, strict=True))]
    )
print(path.read_text()[:120])

# %%
# Nothing is guessed
# ------------------

try:
    import_answers(path)
except ComplabelError as error:
    print(str(error).replace(f"{path.parent}/", ""))

# %%
# Two readings
# ------------
# Right: a blank says nothing. Wrong: whoever fills blanks with 0 says that the label was judged,
# and does not apply.

table, _ = import_answers(path, options=Options(yes=("1",), no=("0",)))
right = Answers.from_table(table, items=items, label_names=labels)
yes = (codes == "1").astype(int)
wrong = Answers.from_arrays(relevant=yes, absent=1 - yes, question="asked", label_names=labels)

test = slice(1000, None)
cardinality, precision = {"truth": Y[test].sum(axis=1).mean()}, {}
for name, answers in {"a blank says nothing": right, "a blank is read as 0": wrong}.items():
    answered = np.unique(answers.item)
    model = SelectionLikelihoodClassifier(kernel="linear").fit(X[answered], answers[answered])
    probabilities = model.predict_proba(X[test])
    cardinality[name] = probabilities.sum(axis=1).mean()
    precision[name] = average_precision(Y[test], probabilities)
    found = (probabilities >= 0.5)[Y[test] == 1].mean()
    print(f"{name}: average precision {precision[name]:.2f}, labels that are found {found:.0%}")

# %%
# What comes out
# --------------

shares = [np.mean(codes == code) for code in ("1", "0", "")]
fig, (left, right_axis) = plt.subplots(
    1, 2, figsize=(7, 3.2), layout="constrained", width_ratios=[2, 3]
)
bars = left.bar(["1", "0", "blank"], shares, color=["#0072B2", "#D55E00", "#BBBBBB"])
left.bar_label(bars, fmt="{:.0%}", padding=3)
left.set(title="cells of the table", ylabel="share", ylim=(0, 1))
colours = ["#555555", "#0072B2", "#D55E00"]
bars = right_axis.barh(list(cardinality), list(cardinality.values()), color=colours)
right_axis.bar_label(bars, fmt="%.1f", padding=3)
right_axis.set(title="labels that apply to an item", xlim=(0, 1.25 * max(cardinality.values())))
right_axis.invert_yaxis()
for axis in (left, right_axis):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# A blank that is read as 0 makes every label seem rare, so hardly anything is predicted. Read as
# missing, the shares are too high, because people wrote down what applies more readily than the
# rest. Random questions repair that: :doc:`/frequencies`.
#
# And then
# --------
# ``complabel import codes.csv --yes 1 --no 0 --out answers.csv`` reads the table: :doc:`/answers`.
# How good the model is, although most labels are missing: :doc:`/evaluate`.
