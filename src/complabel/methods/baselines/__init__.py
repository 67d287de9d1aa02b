"""Simple baselines that every other method should beat."""
