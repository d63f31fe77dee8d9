import pytest

# So that a failed assertion of the judge shows its numbers.
pytest.register_assert_rewrite("tests.oracles.kkt", "tests.oracles.clarabel_qp")
pytest.register_assert_rewrite("tests.oracles.clarabel_box", "tests.oracles.clarabel_centre")
