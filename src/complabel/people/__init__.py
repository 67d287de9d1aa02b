"""What many people say together: consensus, answers to check, and the people themselves."""

from complabel.people._consensus import Consensus, find_consensus

__all__ = ["Consensus", "find_consensus"]
