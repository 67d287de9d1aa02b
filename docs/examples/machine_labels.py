"""
A machine's labels, and 200 answers of a person
===============================================

A machine has labelled everything, and you do not know where it is wrong. A person answers 200
questions. You get which labels you can use, and a model that is better than the machine.

All of it is simulated. The machine learned from other items, so its mistakes depend on the item, as
the mistakes of real machines do. It also takes each "road" for a "river". The person makes no
mistakes.
"""

# %%
# The machine
# -----------

import matplotlib.pyplot as plt
import numpy as np

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.datasets import make_synthetic
from complabel.frequencies import audit_machine
from complabel.methods import SelectionLikelihoodClassifier, fit_beside_machine
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

names = ["city", "forest", "lake", "river", "road", "snow"]
data = make_synthetic(2600, n_features=12, n_labels=6, signal=6.0, random_state=0)
X, Y = np.asarray(data.X[:1000]), data.Y[:1000]
X_test, Y_test = np.asarray(data.X[1600:]), data.Y[1600:]
taught = draw_answers(data.Y[1000:1600], question="ticked", random_state=1)
maker = SelectionLikelihoodClassifier(kernel="linear").fit(data.X[1000:1600], taught)
machine = (maker.predict_proba(X) > 0.5).astype(int)
machine[:, names.index("river")] |= machine[:, names.index("road")]
print(f"the machine says yes {machine.sum():,} times; {np.mean(machine != Y):.0%} of all is wrong")

# %%
# 200 questions
# -------------
# Half of them are about pairs of which the machine says yes. The person does not see what it says.

nothing = Answers.from_arrays(
    absent=np.zeros((0, 6)), question="asked", item=[], n_items=len(Y), label_names=names
)
questions = suggest_questions(nothing, 200, against=machine, random_state=0)
item, label = questions["item"].astype(int), questions["label"].map(names.index)
questions["answer"] = np.where(Y[item, label] == 1, "yes", "no")
person = Answers.from_table(questions, items=range(len(Y)), label_names=names)
print(person)

# %%
# Which labels can be used?
# -------------------------
# ``good`` is the probability that precision and recall are both at least .7.

audit = audit_machine(person, machine, least=0.7)
for k, name in enumerate(names):
    print(f"{name}: can be used with probability {audit.good[k]:.2f}")

# %%
# Learn from both
# ---------------
# How much does an answer of the machine count? Held-out answers of the person choose.

both = fit_beside_machine(
    SelectionLikelihoodClassifier(kernel="linear", random_state=0), X, person, machine
)
print(f"an answer of the machine counts {both.weight:.2f} of a person's answer")


def reaches(model):
    """Return the average precision on other pictures."""
    return average_precision(Y_test, model.predict_proba(X_test))


said = Answers.from_arrays(relevant=machine, absent=1 - machine, question="asked")
asked_about = np.unique(person.item)
linear = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
reached = {
    "person alone": reaches(linear.fit(X[asked_about], person[asked_about])),
    "machine alone": reaches(linear.fit(X, said)),
    "both": reaches(both.classifier),
}

# %%
# In a picture
# ------------
# Left: the machine's precision, by 200 answers and in truth. Right: models that learned from
# the labels of the person, of the machine, and of both.

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained", width_ratios=[3, 2])
true_precision = (machine * Y).sum(axis=0) / machine.sum(axis=0)
precision = audit.precision
at = np.arange(len(names))
low, high = (
    precision.values - precision.intervals[:, 0],
    precision.intervals[:, 1] - precision.values,
)
left.errorbar(
    at, precision.values, yerr=[low, high], fmt="o", color="#0072B2", capsize=3, label="found"
)
left.plot(at, true_precision, "x", color="#D55E00", markersize=8, markeredgewidth=2, label="true")
left.axhline(0.7, color="#999999", linestyle="--", linewidth=1)
left.set_xticks(at, names)
left.set(ylabel="precision of the machine", ylim=(0, 1.02))
left.legend(frameon=False, loc="lower left", ncols=2)
bars = right.barh(list(reached), list(reached.values()), color=["#BBBBBB", "#999999", "#0072B2"])
right.bar_label(bars, fmt="%.2f", padding=3)
right.set(xlabel="average precision", xlim=(0, 1.15))
right.invert_yaxis()
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# The commands, and batches for language models: :doc:`/machines`.
