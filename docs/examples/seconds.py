"""
Which question, at your people's seconds?
=========================================

You know how long your people take: some seconds for one yes or no, and some for a list in which
they tick all labels that apply. You get the curve of each question by *time*, and the one to ask.

People are simulated on handwritten digits, and make no mistakes. Put your own seconds into the
second line of code.
"""

# %%
# Your seconds
# ------------
# Measure them on ten answers of each kind: ``complabel annotate`` writes how long each one took.

yes_or_no, tick_all = 2.0, 6.0  # seconds for one answer

# %%
# Learn from the same minutes of either kind
# ------------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from complabel.datasets import make_digits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

digits = make_digits()
X, Y = digits.X, digits.Y
X_test, Y_test = X[4000:], Y[4000:]
kinds = {"asked": yes_or_no, "ticked": tick_all}
answers = {kind: draw_answers(Y[:2000], question=kind, random_state=0) for kind in kinds}


def learn(kind, minutes):
    """Return the average precision that some minutes of one kind of question reach."""
    n = min(int(60 * minutes / kinds[kind]), 2000)
    model = SelectionLikelihoodClassifier(kernel="linear").fit(X[:n], answers[kind][:n])
    return average_precision(Y_test, model.predict_proba(X_test))


minutes = [5, 15, 30, 60]
curves = {kind: [learn(kind, m) for m in minutes] for kind in kinds}
for kind, curve in curves.items():
    print(f"{kind:6}", " ".join(f"{value:.2f}" for value in curve))

# %%
# The two curves
# --------------

colours = {"asked": "#D55E00", "ticked": "#0072B2"}
names = {
    "asked": f"yes or no, {yes_or_no:g} s each",
    "ticked": f"tick all labels, {tick_all:g} s each",
}
fig, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
for kind, curve in curves.items():
    axis.plot(minutes, curve, "o-", color=colours[kind])
    axis.annotate(
        names[kind],
        (minutes[-1], curve[-1]),
        xytext=(0, -18 if kind == "asked" else 10),
        textcoords="offset points",
        ha="right",
        color=colours[kind],
    )
axis.set(xlabel="minutes of people's work", ylabel="average precision", ylim=(0.3, 1))
axis.spines[["top", "right"]].set_visible(False)

# %%
# Where do they meet?
# -------------------
# The break-even says how long a ticked list may take, so that it is worth as much as yes or no in
# the same time. Here it is read from models of fewer and fewer ticked lists.

goal = average_precision(
    Y_test,
    SelectionLikelihoodClassifier(kernel="linear")
    .fit(X[:1000], answers["asked"][:1000])
    .predict_proba(X_test),
)
lists = np.array([50, 100, 200])
reached = []
for n in lists:
    model = SelectionLikelihoodClassifier(kernel="linear").fit(X[:n], answers["ticked"][:n])
    reached.append(average_precision(Y_test, model.predict_proba(X_test)))
enough = np.interp(goal, reached, lists)
print(f"1,000 yes/no answers are worth {enough:.0f} ticked lists:")
print(f"a list may take {1000 / enough:.1f} times as long as one yes or no,")
print(f"and it takes {tick_all / yes_or_no:.1f} times as long here")

# %%
# And then
# --------
# ``complabel annotate --question mixed`` does this comparison with your own people, while they
# work: :doc:`/annotate`. What was measured on other data: :doc:`/questions`.
