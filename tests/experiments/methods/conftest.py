from tests.methods.conftest import _features as _features
from tests.methods.conftest import complementary as complementary
from tests.methods.conftest import precision_of as precision_of
from tests.methods.conftest import problem as problem
from tests.methods.conftest import relevant as relevant
