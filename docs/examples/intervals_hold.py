"""
300 repetitions of one interval
===============================

"Between .66 and .79, in 95 of 100 cases." Is that so? Draw 200 questions anew, 300 times, and
count how often the interval holds the truth. This page does it whenever the site is built.

The truth is known, because everything is simulated.
"""

# %%
# One model, 300 draws of 200 questions
# -------------------------------------
# The model stays. What changes is which 200 random questions are asked.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest

from complabel.datasets import make_synthetic
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics

data = make_synthetic(2500, n_features=8, n_labels=5, signal=4.0, random_state=0)
X, Y = np.asarray(data.X), data.Y
learned = draw_answers(Y[:500], question="asked", random_state=1)
model = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X[:500], learned)
X, Y = X[500:], Y[500:]
probabilities = model.predict_proba(X)

predicted, truth = probabilities >= 0.5, Y == 1
precision, recall = truth[predicted].mean(), predicted[truth].mean()
true_f1 = 2 * precision * recall / (precision + recall)
rarest = int(truth.mean(axis=0).argmin())
true_share = truth[:, rarest].mean()

intervals = {"F1 of the model": [], "frequency of the rarest label": []}
for seed in range(300):
    asked = draw_answers(Y, question="asked", items_share=0.1, random_state=seed)
    f1 = estimate_metrics(asked, probabilities).f1
    intervals["F1 of the model"].append((f1.low, f1.high))
    share = estimate_label_frequencies(asked).intervals[rarest]
    intervals["frequency of the rarest label"].append(tuple(share))
true = {"F1 of the model": true_f1, "frequency of the rarest label": true_share}

# %%
# How many hold?
# --------------
# 300 repetitions say it up to some hundredths, so the share has an interval of its own.

holds = {}
for name, ends in intervals.items():
    low, high = np.array(ends).T
    holds[name] = (low <= true[name]) & (true[name] <= high)
    count = int(holds[name].sum())
    sure = binomtest(count, 300).proportion_ci()
    print(f"{name}: {count} of 300 hold, {count / 300:.1%} ({sure.low:.1%} to {sure.high:.1%})")

# %%
# All of them
# -----------
# Each line is one interval; those that miss the truth are orange.

fig, axes = plt.subplots(1, 2, figsize=(7, 5), layout="constrained")
for axis, (name, ends) in zip(axes, intervals.items(), strict=True):
    low, high = np.array(ends).T
    order = np.argsort(low + high)
    colours = np.where(holds[name], "#9CC6E0", "#D55E00")
    axis.hlines(np.arange(300), low[order], high[order], colors=colours[order], linewidth=1.2)
    axis.axvline(true[name], color="black", linewidth=1)
    axis.set(xlabel=name, title=f"{holds[name].mean():.1%} hold")
    axis.set_yticks([])
    axis.spines[["top", "right", "left"]].set_visible(False)

# %%
# And then
# --------
# The large studies, with thousands of repetitions on real data, for every interval of complabel:
# :doc:`/evidence/intervals`. What such an interval says, and what it does not: :doc:`/evaluate`.
