"""
Labels that you can use unchecked, and items left to people
===========================================================

You want to use predicted labels without checking them, if nine of ten are right. You get a
threshold that promises it, from random answers, and the items that people must look at.

Everything is simulated. True labels are used at the end only, to see whether the promise is kept.
"""

# %%
# A model, and random answers that it did not learn from
# ------------------------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from complabel.datasets import make_synthetic
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers
from complabel.trust import choose_thresholds, estimate_metrics

data = make_synthetic(4000, n_features=8, n_labels=6, signal=6.0, random_state=0)
X, Y = np.asarray(data.X), data.Y
learned = draw_answers(Y[:1000], question="ticked", items_share=0.5, random_state=1)
answered = np.unique(learned.item)
model = SelectionLikelihoodClassifier(kernel="linear").fit(X[answered], learned[answered])

X, Y = X[1000:], Y[1000:]
probabilities = model.predict_proba(X)
questions = draw_answers(Y, question="asked", items_share=1 / 3, random_state=2)
print(questions)

# %%
# A threshold for a promised precision
# ------------------------------------
# With a chance of 95 %, at least .9 of the labels above it apply.

chosen = choose_thresholds(questions, probabilities, precision=0.9)
threshold = chosen.values[0]
print(f"use a label if its probability is at least {threshold:.2f}")

# %%
# And one for what can be left out: with a chance of 95 %, .95 of what applies is above it.

least = choose_thresholds(questions, probabilities, recall=0.95).values[0]
use, leave, ask = (
    probabilities >= threshold,
    probabilities < least,
    (probabilities < threshold) & (probabilities >= least),
)
for what, pairs in {"used unchecked": use, "left out": leave, "left to people": ask}.items():
    print(f"{pairs.mean():4.0%} of all pairs are {what}; of these {Y[pairs].mean():.1%} apply")

# %%
# Precision and recall at each threshold
# --------------------------------------
# The curves are what the 1,000 answers say; the dotted ones are the truth.

at = np.linspace(0.02, 0.98, 49)
found = [estimate_metrics(questions, probabilities, threshold=t) for t in at[::4]]
truth = Y == 1
precision = [truth[probabilities >= t].mean() for t in at]
recall = [(probabilities >= t)[truth].mean() for t in at]

fig, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.axvspan(least, threshold, color="#DDDDDD", zorder=0)
axis.axvspan(threshold, 1, color="#CDE4F2", zorder=0)
for name, true, colour in (("precision", precision, "#0072B2"), ("recall", recall, "#D55E00")):
    axis.plot(
        at[::4], [getattr(each, name).value for each in found], "o-", color=colour, label=name
    )
    axis.plot(at, true, ":", color=colour)
axis.text((least + threshold) / 2, 0.04, "left to people", ha="center")
axis.text((threshold + 1) / 2, 0.04, "used\nunchecked", ha="center")
axis.text(least / 2, 0.04, "left\nout", ha="center")
axis.axhline(0.9, color="#555555", linewidth=1, linestyle="--")
axis.set(xlabel="threshold of the probability", ylabel="share", xlim=(0, 1), ylim=(0, 1.02))
axis.legend(frameon=False, loc="center left", bbox_to_anchor=(0.02, 0.35))
axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# ``complabel decide model.safetensors X.csv --answers questions.csv --precision 0.9`` keeps the
# threshold in the model: :doc:`/decide`.
