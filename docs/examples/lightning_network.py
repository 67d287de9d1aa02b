"""
A network that Lightning trains on answers
==========================================

You train with Lightning. The answers are a part of your module, so they move to the device with it.
Answers that were held out say after each epoch how well the network explains them: no true label
is needed.

The pictures are handwritten digits, and the person is simulated.
"""

# %%
# Pictures and answers
# --------------------
# One yes/no answer for each picture. A fifth of the pictures is held out.

import logging
import warnings

import lightning
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from complabel.datasets import make_digits
from complabel.losses import AnswersLikelihood
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="lightning")  # about workers and logs of a short run

digits = make_digits(1200)
pictures = torch.tensor(np.asarray(digits.X), dtype=torch.float32).reshape(-1, 1, 16, 16)
train, test = digits.groups < 8, digits.groups >= 8  # other people's handwriting
images, answers = pictures[train], draw_answers(digits.Y[train], question="asked", random_state=0)
held_out = len(images) // 5

# %%
# The module
# ----------
# A batch holds pictures and their numbers. ``batch(rows)`` is the likelihood of the answers about
# these. The network gives logits: it does not end in a sigmoid.


class FromAnswers(lightning.LightningModule):
    def __init__(self, answers):
        super().__init__()
        self.likelihood = AnswersLikelihood(answers, dtype=torch.float32)
        self.network = nn.Sequential(
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

    def forward(self, images):
        return self.network(images)

    def log_likelihood(self, batch):
        images, rows = batch
        return self.likelihood.batch(rows).log_likelihood(self(images)).mean()

    def training_step(self, batch):
        return -self.log_likelihood(batch)

    def validation_step(self, batch):
        self.log("held_out", self.log_likelihood(batch), batch_size=len(batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.003)


class Curve(lightning.Callback):
    """What is logged after each epoch, and average precision by true labels, to compare."""

    def __init__(self):
        self.held_out, self.precision = [], []

    def on_validation_epoch_end(self, trainer, module):
        self.held_out.append(float(trainer.callback_metrics["held_out"]))
        scores = module(pictures[test]).numpy()
        self.precision.append(average_precision(digits.Y[test], scores))


# %%
# Training
# --------

lightning.seed_everything(0, verbose=False)
numbered = TensorDataset(images, torch.arange(len(images)))
learned, judged = (
    torch.utils.data.Subset(numbered, range(held_out, len(images))),
    torch.utils.data.Subset(numbered, range(held_out)),
)
curve, module = Curve(), FromAnswers(answers)
trainer = lightning.Trainer(
    max_epochs=8,
    accelerator="cpu",
    callbacks=[curve],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
)
trainer.fit(module, DataLoader(learned, batch_size=64, shuffle=True), DataLoader(judged, 256))
print(f"held-out log-likelihood {curve.held_out[-1]:.3f} nats an answer; a coin has -0.693")
print(f"average precision {curve.precision[-1]:.2f}")
print("part of a checkpoint:", any("likelihood" in name for name in module.state_dict()))

# %%
# It tells when to stop
# ---------------------
# ``EarlyStopping("held_out", mode="max")`` and ``ModelCheckpoint("held_out", mode="max")`` work as
# with any metric.

fig, (above, below) = plt.subplots(2, 1, figsize=(7, 4.2), sharex=True, layout="constrained")
epochs = np.arange(1, len(curve.held_out) + 1)
above.plot(epochs, curve.held_out, "o-", color="#0072B2")
above.set(ylabel="nats an answer", title="log-likelihood of held-out answers", xticks=epochs)
below.plot(epochs, curve.precision, "o-", color="#D55E00")
below.set(xlabel="epoch", title="average precision by true labels, for comparison", ylim=(0, 1.03))
for axis in (above, below):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# The same with Hugging Face's Trainer: :doc:`/gallery/trainer_network`. What it costs:
# :doc:`/networks`.
