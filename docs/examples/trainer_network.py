"""
A language model that Trainer fine-tunes on answers
===================================================

You fine-tune with Hugging Face's Trainer. A few lines let it learn from yes/no answers in place of
labels, and it keeps the model that explains held-out answers best.

The model is tiny and made here, so that nothing is downloaded. Texts and people are simulated.
"""

# %%
# Texts and answers
# -----------------
# Each label has words of its own. One yes/no question was asked about each text.

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)
from transformers.utils.logging import disable_progress_bar

from complabel.losses import AnswersLikelihood
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

disable_progress_bar()
rng = np.random.default_rng(0)
n_texts, n_labels, length = 2400, 5, 12
Y = (rng.random((n_texts, n_labels)) < 0.3).astype(int)
Y[np.arange(n_texts), rng.integers(n_labels, size=n_texts)] = 1
own = 10 + 4 * np.arange(n_labels)[:, np.newaxis] + np.arange(4)  # four words for each label
words = rng.integers(30, 60, size=(n_texts, length))  # words that say nothing
for text, applies in zip(words, Y, strict=True):
    labels = np.flatnonzero(applies)
    text[rng.choice(length, len(labels), replace=False)] = own[labels, rng.integers(4)]
words = np.hstack([np.ones((n_texts, 1), dtype=int), words])  # 1 stands for the whole text
answers = draw_answers(Y, question="asked", random_state=0)
train, held_out, test = range(1600), range(1600, 2000), range(2000, 2400)

# %%
# A loss in place of labels
# -------------------------
# Each text has its number in the field ``labels``, which Trainer hands on to the loss.

likelihood = AnswersLikelihood(answers, dtype=torch.float32)


class FromAnswers(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **_):
        rows = inputs.pop("labels")
        outputs = model(**inputs)
        loss = -likelihood.to(rows.device).batch(rows).log_likelihood(outputs.logits).mean()
        return (loss, outputs) if return_outputs else loss


def figures(predicted):
    """The log-likelihood of held-out answers; no true label is needed."""
    logits, rows = (torch.as_tensor(each) for each in predicted)
    found = likelihood.to(rows.device).batch(rows).log_likelihood(logits)
    return {"log_likelihood": float(found.mean())}


# %%
# Training
# --------

set_seed(0)
model = BertForSequenceClassification(
    BertConfig(
        vocab_size=64,
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=n_labels,
    )
)


def numbered(texts):
    return [{"input_ids": torch.tensor(words[row]), "labels": row} for row in texts]


with tempfile.TemporaryDirectory() as folder:
    trainer = FromAnswers(
        model,
        TrainingArguments(
            folder,
            num_train_epochs=6,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=256,
            learning_rate=3e-3,
            eval_strategy="epoch",
            save_strategy="epoch",
            metric_for_best_model="log_likelihood",
            load_best_model_at_end=True,
            use_cpu=True,
            disable_tqdm=True,
            report_to="none",
            logging_strategy="no",
            dataloader_pin_memory=False,
        ),
        train_dataset=numbered(train),
        eval_dataset=numbered(held_out),
        compute_metrics=figures,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    said = [
        each["eval_log_likelihood"] for each in trainer.state.log_history if "eval_loss" in each
    ]
    logits = trainer.predict(numbered(test)).predictions

# %%
# The log-likelihood is in nats an answer: a coin has -0.693.

print(f"held-out log-likelihood of the best epoch: {max(said):.3f}")
print(f"average precision by true labels: {average_precision(Y[test], logits):.2f}")

fig, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
axis.plot(np.arange(1, len(said) + 1), said, "o-", color="#0072B2", label="held-out answers")
axis.axhline(-np.log(2), color="#D55E00", linestyle="--", label="a coin")
axis.set(xlabel="epoch", ylabel="log-likelihood, nats an answer", xticks=range(1, len(said) + 1))
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)

# %%
# And then
# --------
# The same with Lightning: :doc:`/gallery/lightning_network`. What it costs: :doc:`/networks`.
