import pytest

# So that a failed assertion of the judge shows its numbers.
pytest.register_assert_rewrite("tests.oracles.kkt", "tests.oracles.clarabel_qp")
