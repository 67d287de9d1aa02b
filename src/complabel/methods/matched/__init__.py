"""Any method with its scores matched to how often labels apply."""
