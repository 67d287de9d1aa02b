"""
Tags, and what they leave out
=============================

People tagged pictures: they gave some labels that apply, as many as they cared to. A label without
a tag may apply all the same. How often it was left out differs from label to label. You get
probabilities that allow for this, from the tags and 200 yes/no questions.

People are simulated: a label that applies is tagged with a chance, its *exposure*, of .2 to .8.
"""

# %%
# What was collected
# ------------------

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

digits = make_digits()
X, Y = digits.X[:1500], digits.Y[:1500]
X_test, Y_test = digits.X[4000:], digits.Y[4000:]
exposure = np.random.default_rng(0).permutation(np.linspace(0.2, 0.8, Y.shape[1]))
tags = draw_answers(Y, question="tagged", exposure=exposure, random_state=0)
print(tags)
print(f"tags: {tags.tagged.sum() / len(Y):.2f} for each picture, of {Y.sum() / len(Y):.2f} labels")

# %%
# The usual way: what is not tagged does not apply
# ------------------------------------------------

tagged = tags.tagged.toarray()
usual = np.stack(
    [
        LogisticRegression(max_iter=500).fit(X, tagged[:, k]).predict_proba(X_test)[:, 1]
        for k in range(Y.shape[1])
    ],
    axis=1,
)

# %%
# Tags as tags, and 200 yes/no questions
# --------------------------------------
# Tags alone do not tell how many labels apply; ``fit`` warns of it. Random questions do. In your
# own data, ``suggest_questions`` draws them.

questions = draw_answers(Y, question="asked", items_share=200 / len(Y), random_state=1)
both = Answers.concatenate([tags, questions])
reached = {"not tagged is no": usual}
warnings.simplefilter("ignore")  # of tags alone: nothing tells how many labels apply
for name, answers in {"tags alone": tags, "tags and 200 questions": both}.items():
    model = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X, answers)
    reached[name] = model.predict_proba(X_test)
for name, p in reached.items():
    loss = log_loss(Y_test.ravel(), p.ravel())
    print(f"{name}: average precision {average_precision(Y_test, p):.2f}, log-loss {loss:.2f}")

# %%
# How often each digit applies
# ----------------------------
# The usual way takes each label for as rare as its tags are. 200 questions are 20 for each digit,
# so the share of a single digit may still be off; more questions mend it.

truth = Y_test.mean(axis=0)
order = np.argsort(exposure)
fig, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.plot(truth[order], "k_", markersize=16, markeredgewidth=2, label="true")
for (name, p), marker in zip(reached.items(), "sxo", strict=True):
    axes.plot(p.mean(axis=0)[order], marker, label=name)
axes.set(
    xticks=range(len(order)),
    xticklabels=[f"{k}\n{exposure[k]:.1f}" for k in order],
    xlabel="digit, and how often it is tagged where it applies",
    ylabel="share of pictures",
)
axes.set_ylim(bottom=0)
axes.legend(frameon=False)
fig.suptitle("What is not tagged is not absent")
plt.show()
