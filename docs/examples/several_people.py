"""
Who errs, and what people say together
======================================

Several people judged the same items, and they contradict each other. You get how often each
person misses a label, and labels that are nearer to the truth than a vote.

The five people are simulated. They miss 5 to 50 % of the labels that apply, and invent 3 % of the
others. Real crowds look like this.
"""

# %%
# What people said
# ----------------
# Two of the five tick all labels of each item. The fit does not know their rates.

import matplotlib.pyplot as plt
import numpy as np

from complabel.datasets import make_synthetic
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

people = ["ann", "ben", "cleo", "dan", "eve"]
missed = [0.05, 0.15, 0.25, 0.35, 0.5]
data = make_synthetic(700, n_features=8, n_labels=5, signal=4.0, random_state=0)
X, Y = np.asarray(data.X), data.Y
answers = draw_answers(
    Y, question="ticked", answers_per_item=2, missed=missed, invented=0.03, random_state=0
)
print(answers)

# %%
# Find the rates
# --------------
# ``missed="auto"`` is the model of Dawid and Skene, with the features of the items besides.

model = SelectionLikelihoodClassifier(
    kernel="linear", missed="auto", invented="auto", random_state=0
).fit(X, answers)
table = model.annotators_table(X, answers)
for k, name in enumerate(people):
    low, high = table["missed_low"][k], table["missed_high"][k]
    print(f"{name:5} misses {table['missed'][k]:.2f}, from {low:.2f} to {high:.2f}")

# %%
# What they say together
# ----------------------
# A vote counts a label if anybody ticked it, or only if both did. The consensus weighs each tick by
# who set it, and by the features.

relevant = answers.relevant.toarray()
ticks = np.zeros_like(Y, dtype=float)
np.add.at(ticks, answers.item, relevant)
truth = Y == 1
ways = {
    "both ticked it": ticks == 2,
    "one ticked it": ticks >= 1,
    "consensus": model.predict_consensus(X, answers) > 0.5,
}
wrong = {way: np.mean(found != truth) for way, found in ways.items()}
for way, share in wrong.items():
    print(f"{share:.1%} wrong: {way}")

# %%
# Both in a picture
# -----------------

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
at = np.arange(len(people))
rates = np.asarray(table["missed"])
low, high = rates - table["missed_low"], np.asarray(table["missed_high"]) - rates
left.errorbar(at, rates, yerr=[low, high], fmt="o", color="#0072B2", capsize=4, label="found")
left.plot(at, missed, "x", color="#D55E00", markersize=9, markeredgewidth=2, label="true")
left.set_xticks(at, people)
left.set(ylabel="share of labels that are missed", ylim=(0, 0.7))
left.legend(frameon=False, loc="upper left")
bars = right.barh(list(wrong), list(wrong.values()), color=["#BBBBBB", "#999999", "#0072B2"])
right.bar_label(bars, fmt="{:.1%}", padding=3)
right.set(xlabel="labels that are wrong", xlim=(0, 1.3 * max(wrong.values())))
right.xaxis.set_major_formatter("{x:.0%}")
right.invert_yaxis()
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# Which answers to check first
# ----------------------------
# All that people said, the most doubtful first. How many of the first hundred are wrong?

doubtful = model.doubtful_answers(X, answers)
said_wrongly = doubtful["said"] != Y[doubtful["item"], doubtful["label"]]
print(f"of all answers {said_wrongly.mean():.0%} are wrong,")
print(f"of the first hundred {said_wrongly[:100].mean():.0%}")

# %%
# And then
# --------
# ``complabel inspect answers.csv --html page.html`` draws these rates for your people, and
# ``complabel consensus`` needs no model: :doc:`/people`.
