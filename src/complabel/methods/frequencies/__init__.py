"""How often each label applies: estimated from few random answers and what was named."""
