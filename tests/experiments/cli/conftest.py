from tests.cli.conftest import folder as folder
from tests.cli.conftest import run as run
from tests.cli.conftest import without_charts as without_charts
