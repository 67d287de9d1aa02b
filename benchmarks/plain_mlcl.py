"""MLCL as one would write it in an afternoon: Dataset, DataLoader, autograd. The alternative."""

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    """Features and complementary labels as tensors, one instance at a time."""

    def __init__(self, X, complementary):
        self.X = torch.tensor(X, dtype=torch.float32)
        self.complementary = torch.tensor(complementary, dtype=torch.float32)

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        return self.X[index], self.complementary[index]


def fit(rows: Dataset, *, learning_rate: float, epochs: int, batch_size: int = 256):
    """Run both steps of MLCL and return the trained linear layer."""
    features, complementary = rows[0]
    n_features, n_labels = len(features), len(complementary)

    def train(loss_function):
        loader = DataLoader(rows, batch_size=batch_size, shuffle=True)
        model = torch.nn.Linear(n_features, n_labels)
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, weight_decay=1e-4)
        for _ in range(epochs):
            for x, ybar in loader:
                loss = loss_function(model(x), ybar)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return model

    def step_one_loss(logits, ybar):
        return torch.nn.functional.cross_entropy(logits, ybar.argmax(dim=1))

    first = train(step_one_loss)
    candidates = 1 - rows.complementary
    with torch.no_grad():
        predicted = torch.softmax(first(rows.X), dim=1)
        S = (candidates.T @ predicted) / candidates.sum(dim=0)[:, None]
        S.fill_diagonal_(0)
        C = (candidates.T @ candidates) / candidates.sum(dim=0)[:, None]
        T = S @ C.T
        T.fill_diagonal_(0)
        T /= T.sum(dim=1, keepdim=True)

    def step_two_loss(logits, ybar):
        fbar = (torch.sigmoid(logits) @ T).clamp(1e-6, 1 - 1e-6)
        cross_entropy = -(ybar * fbar.log() + (1 - ybar) * (1 - fbar).log()).sum(dim=1).mean()
        return cross_entropy + ((ybar - fbar) ** 2).sum(dim=1).mean()

    return train(step_two_loss)
