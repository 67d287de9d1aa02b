"""The paper's tables and settings, and the plans that repeat its experiments."""

from complabel.paper._paper import PLANS
from complabel.paper._paper import TABLES as TABLES
from complabel.paper._paper import Published as Published
from complabel.paper._paper import plan_text as plan_text
from complabel.paper._paper import printed_criteria as printed_criteria
from complabel.paper._paper import printed_name as printed_name
from complabel.paper._paper import published_cells as published_cells
from complabel.paper._paper import settings as settings

__all__ = ["PLANS"]
