"""
Precision, recall and F1 without true labels
============================================

You have a model, and nobody has labelled a test set. Somebody answers 200 random yes/no questions.
You get precision, recall, F1 and average precision, each with an interval.

The person is simulated, so the true figures are known here, for comparison only.
"""

# %%
# A model
# -------

import matplotlib.pyplot as plt
import numpy as np

from complabel.datasets import make_synthetic
from complabel.methods import SelectionLikelihoodClassifier
from complabel.reports import LabelFrequencyDisplay, ReliabilityDisplay, ThresholdDisplay
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics

data = make_synthetic(2500, n_features=8, n_labels=6, signal=4.0, random_state=0)
X, Y = np.asarray(data.X), data.Y
learned = draw_answers(Y[:500], question="asked", random_state=1)
model = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X[:500], learned)

# %%
# 200 random questions about other items
# --------------------------------------
# Each asks whether one random label applies to one random item. The model has not seen the answers.

X, Y = X[500:], Y[500:]
probabilities = model.predict_proba(X)
asked = draw_answers(Y, question="asked", items_share=0.1, random_state=2)
print(asked)

figures = estimate_metrics(asked, probabilities)
more = estimate_metrics(
    draw_answers(Y, question="asked", items_share=0.8, random_state=3), probabilities
)

# %%
# The truth, for comparison
# -------------------------

predicted, truth = probabilities >= 0.5, Y == 1
precision, recall = truth[predicted].mean(), predicted[truth].mean()
true = {"precision": precision, "recall": recall}
true["f1"] = 2 * precision * recall / (precision + recall)
order = np.argsort(-probabilities, axis=None)
hits = truth.ravel()[order]
true["average_precision"] = (np.cumsum(hits) / np.arange(1, hits.size + 1))[hits].mean()
for name, value in true.items():
    figure = getattr(figures, name)
    interval = f"from {figure.low:.2f} to {figure.high:.2f}"
    print(f"{name:17} {figure.value:.2f}, {interval}; true {value:.2f}")

# %%
# In a picture
# ------------

fig, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
at = np.arange(len(true))
for found, shift, colour, label in (
    (figures, 0.14, "#0072B2", "200 answers"),
    (more, -0.14, "#56B4E9", "1,600 answers"),
):
    each = [getattr(found, name) for name in true]
    value = np.array([figure.value for figure in each])
    low = value - [figure.low for figure in each]
    high = [figure.high for figure in each] - value
    axis.errorbar(
        value, at + shift, xerr=[low, high], fmt="o", color=colour, capsize=4, label=label
    )
axis.plot(
    list(true.values()), at, "x", color="#D55E00", markersize=9, markeredgewidth=2, label="true"
)
axis.set_yticks(at, [name.replace("_", " ").replace("f1", "F1") for name in true])
axis.invert_yaxis()
axis.set(xlabel="figure over all labels, with its interval of 95 %", xlim=(0.4, 1))
axis.legend(frameon=False, loc="lower left")
axis.spines[["top", "right"]].set_visible(False)

# %%
# At other thresholds, and label by label
# ---------------------------------------
# Displays work as in scikit-learn: from a fitted model, or from its probabilities.

fig, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
ThresholdDisplay.from_estimator(model, X, asked, ax=left)
ReliabilityDisplay.from_estimator(model, X, asked, n_bins=5, ax=middle)
LabelFrequencyDisplay.from_estimator(model, X, asked, ax=right)

# %%
# How many more questions?
# ------------------------

for name in ("precision", "recall", "f1"):
    print(f"{name}: {getattr(figures, name).more_questions:,} more halve the interval")

# %%
# And then
# --------
# With files: ``complabel evaluate model.safetensors X.csv --answers answers.csv``:
# :doc:`/evaluate`.
# Does such an interval hold? :doc:`/gallery/intervals_hold` counts 300 of them.
