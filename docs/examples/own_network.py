"""
Your own network learns from yes and no
=======================================

You have a network in PyTorch, raw pictures, and one yes/no answer for each. You get a network
that predicts all labels. The loss knows which labels are missing.

The pictures are handwritten digits, and the person is simulated.
"""

# %%
# Pictures and answers
# --------------------

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from complabel.datasets import make_digits
from complabel.losses import AnswersLikelihood
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

digits = make_digits(2500)
pictures = torch.tensor(np.asarray(digits.X), dtype=torch.float32).reshape(-1, 1, 16, 16)
train, test = digits.groups < 8, digits.groups >= 8  # other people's handwriting
answers = draw_answers(digits.Y[train], question="asked", random_state=0)

# %%
# A network
# ---------
# It looks for each digit everywhere in a picture, and keeps the best place.

torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1),
    nn.BatchNorm2d(12),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1),
    nn.BatchNorm2d(24),
    nn.ReLU(),
    nn.Conv2d(24, 10, 3, padding=1),
    nn.AdaptiveMaxPool2d(1),
    nn.Flatten(),
)

# %%
# A loop of your own
# ------------------
# ``AnswersLikelihood`` lays the answers out once. ``batch`` is the likelihood of those about some
# items.

likelihood = AnswersLikelihood(answers, dtype=torch.float32)
optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
images, others = pictures[train], pictures[test]
shuffled = torch.Generator().manual_seed(0)
curve = []
for _ in range(10):
    network.train()
    for rows in torch.randperm(len(images), generator=shuffled).split(64):
        loss = -likelihood.batch(rows).log_likelihood(network(images[rows])).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    network.eval()
    with torch.no_grad():
        scores = network(others).numpy()
    curve.append(average_precision(digits.Y[test], scores))
print(f"after {len(curve)} epochs: average precision {curve[-1]:.2f}")

# %%
# Beside a kernel
# ---------------
# ``SelectionLikelihoodClassifier`` sees 256 numbers, and not a picture.

kernel = SelectionLikelihoodClassifier(random_state=0).fit(digits.X[train], answers)
beside = average_precision(digits.Y[test], kernel.predict_proba(digits.X[test]))

fig, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(np.arange(1, len(curve) + 1), curve, "o-", color="#0072B2")
axis.axhline(beside, color="#D55E00", linestyle="--")
axis.text(len(curve), beside - 0.045, "kernel on the same answers", ha="right", color="#D55E00")
axis.text(len(curve), curve[-1] + 0.02, "network", ha="right", color="#0072B2")
axis.set(xlabel="epoch", ylabel="average precision on other handwriting", ylim=(0.3, 1.03))
axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# The same with a class, and what it costs: :doc:`/networks`.
