"""
The same number of answers, in five ways
========================================

You can ask one question about each of your items. Which question teaches most? This example
compares five ways with the same method, on the same pictures, for the same *number* of answers.
The next example, :doc:`/gallery/seconds`, compares for the same *time*.

People are simulated, and make no mistakes.
"""

# %%
# Five ways to ask
# ----------------
# "Biased" means that some digits come to mind more readily than others: the first one 16 times as
# readily as the last one. The classifier does not know these numbers.

import matplotlib.pyplot as plt
import numpy as np

from complabel.datasets import make_digits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

digits = make_digits()
X, Y = digits.X, digits.Y
X_test, Y_test = X[4000:], Y[4000:]
readily = np.random.default_rng(0).permutation(np.geomspace(1, 16, Y.shape[1]))
most = 1000


ways = {
    "tick all that are there": lambda Y: draw_answers(Y, question="ticked", random_state=0),
    "yes or no about a random digit": lambda Y: draw_answers(Y, question="asked", random_state=0),
    "name one of two that is not there": lambda Y: draw_answers(
        Y, question="menu-2", random_state=0
    ),
    "name any that is not there": lambda Y: draw_answers(Y, random_state=0),
    "name any that is not there, biased": lambda Y: draw_answers(
        Y, propensities=readily, random_state=0
    ),
}

# %%
# Learn from each
# ---------------
# The map is linear here, to be quick. Free naming makes the classifier warn that it cannot see the
# bias; this is the point here, so the warning is switched off.

import warnings

from complabel.answers import AssumedUniformWarning, UnchosenLabelWarning

sizes = [150, 400, most]
curves = {}
for way, ask in ways.items():
    answers = ask(Y[:most])
    curves[way] = []
    for n in sizes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumedUniformWarning)
            warnings.simplefilter(
                "ignore", UnchosenLabelWarning
            )  # few answers, so some are never named
            model = SelectionLikelihoodClassifier(kernel="linear").fit(X[:n], answers[:n])
        curves[way].append(average_precision(Y_test, model.predict_proba(X_test)))
    print(f"{curves[way][-1]:.2f}  {way}")

# %%
# Compare
# -------

colours = ["#009E73", "#0072B2", "#56B4E9", "#E69F00", "#D55E00"]
fig, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
for (way, curve), colour, marker in zip(curves.items(), colours, "os^Dv", strict=True):
    axis.plot(sizes, curve, marker=marker, color=colour, label=way)
axis.set(
    xlabel="answers, one for each picture", ylabel="average precision", xscale="log", ylim=(0.2, 1)
)
axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
axis.minorticks_off()
axis.spines[["top", "right"]].set_visible(False)
fig.legend(loc="outside lower center", ncols=1, frameon=False)

# %%
# Where some digits come to mind more readily, more answers do not help: the model learns what
# comes to mind. Nobody can see in such answers whether this is so. Some yes/no questions repair
# it: :doc:`/gallery/biased_naming`.
#
# And then
# --------
# A ticked list takes longer than a yes: :doc:`/gallery/seconds` counts the time.
# :doc:`/questions` says what to ask in your case.
