"""How good a model is, and which of its predictions can be used, from answers alone."""
