from tests.datasets.conftest import limited as limited
from tests.datasets.conftest import nothing_at_hand as nothing_at_hand
