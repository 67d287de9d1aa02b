"""The selection likelihood: the exact probability of the answers."""
