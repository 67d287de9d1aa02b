"""
Learn digits from "is there a 7 on it?"
=======================================

You have pictures, and people with little time. Each picture gets **one** question about one
random label, and somebody says yes or no. You get a classifier that predicts *all* labels.

The pictures are scans of handwritten digits, several on each. They come with complabel. The
person is simulated: the true labels answer the questions, and no method sees them.
"""

# %%
# One question for each picture
# -----------------------------
# ``draw_answers`` draws a random digit for each picture, and answers for the simulated person.

import matplotlib.pyplot as plt
import numpy as np

from complabel.datasets import make_digits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

digits = make_digits()
X, Y = digits.X, digits.Y
X_test, Y_test = X[4000:], Y[4000:]

answers = draw_answers(Y[:2000], question="asked", random_state=0)
print(answers)

said = answers.statements()  # which label of which item, and whether it applies
fig, axes = plt.subplots(1, 4, figsize=(7, 2.4), layout="constrained")
two_of_each = [*np.flatnonzero(said.applies)[:2], *np.flatnonzero(~said.applies)[:2]]
for at, axis in zip(two_of_each, axes, strict=True):
    answer = "yes" if said.applies[at] else "no"
    axis.imshow(X[said.item[at]].reshape(16, 16), cmap="gray_r")
    axis.set_title(f"Is there a {said.label[at]}?\n{answer}", fontsize=11)
    axis.set_axis_off()

# %%
# Learn from the answers
# ----------------------
# ``Answers`` stand where other classifiers take ``y``. The settings are chosen by held-out answers.

classifier = SelectionLikelihoodClassifier(random_state=0).fit(X[:2000], answers)
probabilities = classifier.predict_proba(X_test)
reached = average_precision(Y_test, probabilities)
print(f"average precision on 1,000 other pictures: {reached:.2f}")

# %%
# More pictures, better model
# ---------------------------
# The same with fewer pictures. The dashed line is a model that has learned nothing: it orders the
# digits by how often they occur.

sizes = [100, 250, 500, 1000, 2000]
curve = []
for n in sizes[:-1]:
    model = SelectionLikelihoodClassifier(random_state=0).fit(X[:n], answers[:n])
    curve.append(average_precision(Y_test, model.predict_proba(X_test)))
nothing = average_precision(Y_test, np.tile(Y[:2000].mean(axis=0), (len(Y_test), 1)))

fig, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(sizes, [*curve, reached], "o-", color="#0072B2")
axis.axhline(nothing, color="#555555", linestyle="--")
axis.text(sizes[-1], nothing + 0.01, "learned nothing", ha="right", color="#555555")
axis.set(xlabel="pictures, one yes or no for each", ylabel="average precision", ylim=(0.3, 1))
axis.spines[["top", "right"]].set_visible(False)

# %%
# What it predicts
# ----------------
# Four pictures that nobody was asked about, with the three likeliest digits.

fig, axes = plt.subplots(1, 4, figsize=(7, 2.6), layout="constrained")
for picture, axis in enumerate(axes):
    best = np.argsort(-probabilities[picture])[:3]
    axis.imshow(X_test[picture].reshape(16, 16), cmap="gray_r")
    lines = [f"{digit}: {probabilities[picture, digit]:.0%}" for digit in best]
    axis.set_title("\n".join(lines), fontsize=11)
    axis.set_axis_off()

# %%
# And then
# --------
# Ask your own people in the browser: :doc:`/annotate`. Which question is best for them:
# :doc:`/questions`.
