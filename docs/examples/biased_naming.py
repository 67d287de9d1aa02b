"""
Biased naming, repaired by 200 questions
========================================

People named one label that does *not* apply to each item: complementary labels. They named what
came to mind. So the answers say more about people than about items, and a model learns the wrong
thing. You get the repair: 200 yes/no questions about random labels.

People are simulated. The first label comes to mind 16 times as readily as the last one.
"""

# %%
# What was collected
# ------------------

import warnings

import matplotlib.pyplot as plt
import numpy as np

from complabel.answers import Answers, AssumedUniformWarning, UnansweredRowWarning
from complabel.asking import inspect_answers, suggest_questions
from complabel.datasets import make_digits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

digits = make_digits()
X, Y = digits.X[:800], digits.Y[:800]
X_test, Y_test = digits.X[4000:], digits.Y[4000:]
readily = np.random.default_rng(0).permutation(np.geomspace(1, 16, Y.shape[1]))
named = draw_answers(Y, propensities=readily, random_state=0)
print(named)

# %%
# Look before you learn
# ---------------------
# ``inspect_answers`` says what these answers cannot show, and what to do about it.

for finding in inspect_answers(named, X).findings:
    print(f"{finding.severity}: {finding.title}")

# %%
# Ask 200 questions
# -----------------
# ``suggest_questions`` draws random pairs of an item and a label. A person says yes or no. Here the
# true labels answer for the simulated person. Rows that come with an answer are known already.

questions = suggest_questions(named, n=200, random_state=0)
item, label = questions["item"].astype(int), questions["label"].astype(int)
questions["answer"] = np.where(Y[item, label] == 1, "yes", "no")
checked = Answers.from_table(
    questions, items=range(len(Y)), label_names=[str(k) for k in range(Y.shape[1])]
)
print(checked)

# %%
# Learn from the namings, and from both
# -------------------------------------

warnings.simplefilter("ignore", AssumedUniformWarning)  # the first model cannot see the bias
warnings.simplefilter("ignore", UnansweredRowWarning)  # the second one has 200 answers only
both = Answers.concatenate([named, checked])
reached, shares = {}, {}
for name, answers in {"named only": named, "200 questions only": checked, "both": both}.items():
    model = SelectionLikelihoodClassifier(kernel="linear").fit(X, answers)
    reached[name] = average_precision(Y_test, model.predict_proba(X_test))
    shares[name] = model.predict_proba(X).mean(axis=0)
    print(f"{reached[name]:.2f}  {name}")

# %%
# What the questions repair
# -------------------------
# Left: how often each digit seems to occur. Namings alone take a digit that seldom comes to mind
# for one that is nearly always there. Right: average precision on other pictures.

truth = Y.mean(axis=0)
order = np.argsort(readily)
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.8), layout="constrained", width_ratios=[3, 2])
left.plot(truth[order], "k_", markersize=14, markeredgewidth=2, label="true")
left.plot(shares["named only"][order], "v", color="#D55E00", label="named only")
left.plot(shares["both"][order], "o", color="#0072B2", label="both")
left.set_xticks(range(len(order)), [str(k) for k in order])
left.set(xlabel="digit, from seldom to readily named", ylabel="share of the pictures", ylim=(0, 1))
left.legend(frameon=False)
bars = right.barh(list(reached), list(reached.values()), color=["#D55E00", "#999999", "#0072B2"])
right.bar_label(bars, fmt="%.2f", padding=3)
right.set(xlabel="average precision", xlim=(0, 1.1))
right.invert_yaxis()
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# With files, ``complabel inspect`` and ``complabel ask`` do the same: :doc:`/questions`. Where the
# shares themselves are what you want, read :doc:`/frequencies`.
