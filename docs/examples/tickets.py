"""
Topics of support tickets
=========================

You have texts, a list of topics, and somebody who answers single questions: "is this about
billing?" You get a classifier for new texts, and see which words speak for a topic.

The tickets come from a small grammar, so that this runs without data. The person is simulated.
"""

# %%
# Tickets
# -------

import matplotlib.pyplot as plt
import numpy as np

from complabel.features import text_features
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

TOPICS = {
    "billing": ["I was charged twice", "the invoice is wrong", "please refund the fee"],
    "login": ["my password fails", "I cannot sign in", "the account is locked"],
    "delivery": ["the parcel is late", "the courier never came", "wrong address on the box"],
    "crash": ["the app freezes", "it closes by itself", "an error on the screen"],
}
OPENINGS = ["Hello,", "Good morning,", "Hi there,", "To whom it may concern:"]
ENDINGS = ["Please help.", "Thank you.", "This happens since Monday.", "I am waiting."]
topics = list(TOPICS)


def write_tickets(n, rng):
    """Return n tickets, and 1 where a topic applies."""
    Y = rng.random((n, len(topics))) < 0.35
    tickets = []
    for row in Y:
        parts = [rng.choice(TOPICS[topic]) for topic, yes in zip(topics, row, strict=True) if yes]
        middle = ", and ".join(rng.permutation(parts)) or "I have a question"
        tickets.append(f"{rng.choice(OPENINGS)} {middle}. {rng.choice(ENDINGS)}")
    return tickets, Y.astype(int)


rng = np.random.default_rng(0)
tickets, Y = write_tickets(800, rng)
new, Y_new = write_tickets(400, rng)
print(tickets[0], "|", [topic for topic, yes in zip(topics, Y[0], strict=True) if yes])

# %%
# Numbers from texts, and one question for each ticket
# ----------------------------------------------------
# ``words`` counts words, and needs no other package. ``wordllama`` knows which words are alike.

X, X_new = text_features(tickets, model="words"), text_features(new, model="words")
answers = draw_answers(Y, question="asked", random_state=0)
model = SelectionLikelihoodClassifier(kernel="linear").fit(X, answers)
probabilities = model.predict_proba(X_new)
print(f"average precision on new tickets: {average_precision(Y_new, probabilities):.2f}")

# %%
# Which words speak for a topic?
# ------------------------------
# Each word is asked about as a text of its own: how much does it add to the score of a topic?

words = sorted({word.strip(".,:").lower() for text in tickets for word in text.split()})
scores = model.decision_function(text_features(words, model="words"))
scores -= scores.mean(axis=0)

fig, axes = plt.subplots(1, 4, figsize=(7, 3.2), layout="constrained", sharex=True)
for axis, topic, score in zip(axes, topics, scores.T, strict=True):
    best = np.argsort(score)[-6:]
    axis.barh([words[k] for k in best], score[best], color="#0072B2")
    axis.set_title(topic, fontsize=11)
    axis.tick_params(labelsize=9)
    axis.spines[["top", "right"]].set_visible(False)
fig.supxlabel("what the word adds to the score (log-odds)", fontsize=10)

# %%
# How many answers?
# -----------------
# The grammar is easy: nearly each word belongs to one topic. Real tickets need more answers.

sizes, curve = [20, 40, 80, 160, 320], []
for n in sizes:
    few = SelectionLikelihoodClassifier(kernel="linear").fit(X[:n], answers[:n])
    curve.append(average_precision(Y_new, few.predict_proba(X_new)))

fig, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
axis.plot(sizes, curve, "o-", color="#0072B2")
axis.set(xlabel="tickets, one yes or no for each", ylabel="average precision", ylim=(0.3, 1.02))
axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# With files: ``complabel features tickets.csv --text body --out X.npz``, then
# ``complabel annotate``: :doc:`/annotate`. Better features for texts: :doc:`/features`. Predict new
# tickets and serve them: :doc:`/models`.
