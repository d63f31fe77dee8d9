import resource
import subprocess
import sys

import pytest

from mercer._errors import ParameterError
from mercer._jit import memory
from mercer._jit.memory import available_bytes, parse_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (1000, 1000),
        (1e9, 10**9),
        ("1000", 1000),
        ("1000B", 1000),
        ("2KiB", 2048),
        ("2k", 2000),
        ("500 MB", 500 * 10**6),
        ("1.5GiB", 3 * 2**29),
        (" .5 gib ", 2**29),
        ("1TB", 10**12),
        ("1 TiB", 2**40),
    ],
)
def test_bytes_from_numbers_and_texts(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "much", "1.2.3GB", "2 PB", "-1GB", "GB", "1e9", None, [1], True])
def test_what_is_not_an_amount_is_refused(text):
    with pytest.raises(ParameterError, match='memory_limit must be bytes or a text such as "2GiB", got '):
        parse_bytes(text)


@pytest.mark.parametrize("amount", [0, -5, float("nan"), float("inf"), "0GB"])
def test_what_is_no_positive_amount_is_refused(amount):
    with pytest.raises(ParameterError, match="memory_limit must be positive and finite, got "):
        parse_bytes(amount)


def test_the_name_of_the_parameter_is_said():
    with pytest.raises(ParameterError, match="cache_size must be positive"):
        parse_bytes(0, "cache_size")


def test_there_is_some_memory_but_no_more_than_the_machine_has():
    pages = memory.os.sysconf("SC_PHYS_PAGES") * memory.os.sysconf("SC_PAGE_SIZE")
    assert 2**20 < available_bytes() <= pages


def test_a_bound_on_the_address_space_counts():
    program = (
        "import resource\n"
        "from mercer._jit.memory import available_bytes\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)\n"
        "print(available_bytes() / 2**20)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 250 < float(done.stdout) <= 300


def test_without_a_bound_the_address_space_says_nothing(monkeypatch):
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert memory._free_in_address_space() is None


def free_in(folder, monkeypatch):
    """What groups made of plain files under `folder` leave free."""
    bounded = memory._bounded_groups.__wrapped__(str(folder / "groups"), str(folder / "membership"))
    monkeypatch.setattr(memory, "_bounded_groups", lambda: bounded)
    return list(memory._free_in_groups())


def test_version_2_of_control_groups(tmp_path, monkeypatch):
    (tmp_path / "membership").write_text("0::/app/worker\n")
    for folder, limit, used in [("", None, None), ("app", "1000", "300"), ("app/worker", "max", "200")]:
        place = tmp_path / "groups" / folder
        place.mkdir(parents=True, exist_ok=True)
        if limit:
            (place / "memory.max").write_text(f"{limit}\n")
            (place / "memory.current").write_text(f"{used}\n")
            (place / "memory.stat").write_text("anon 10\ninactive_file 50\n")
    assert free_in(tmp_path, monkeypatch) == [1000 - (300 - 50)]


def test_version_1_of_control_groups(tmp_path, monkeypatch):
    (tmp_path / "membership").write_text("9:cpu:/\n4:memory:/job\n")
    for folder, limit, used in [("", 2**63 - 4096, 900), ("job", 500, 400)]:
        place = tmp_path / "groups" / "memory" / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "memory.limit_in_bytes").write_text(str(limit))
        (place / "memory.usage_in_bytes").write_text(str(used))
        (place / "memory.stat").write_text("inactive_file 0\ntotal_inactive_file 20\n")
    assert free_in(tmp_path, monkeypatch) == [500 - (400 - 20)]


def test_a_container_that_sees_its_own_group_at_the_top(tmp_path, monkeypatch):
    """The path of membership is the host's, and is not there."""
    (tmp_path / "membership").write_text("0::/docker/0123456789\n")
    place = tmp_path / "groups"
    place.mkdir()
    (place / "memory.max").write_text("800")
    (place / "memory.current").write_text("100")
    (place / "memory.stat").write_text("")
    assert free_in(tmp_path, monkeypatch) == [700]


def test_groups_that_cannot_be_read_set_no_bound(tmp_path, monkeypatch):
    assert free_in(tmp_path, monkeypatch) == []


def test_the_smallest_bound_wins(monkeypatch):
    monkeypatch.setattr(memory, "_free_in_machine", lambda: 100)
    monkeypatch.setattr(memory, "_free_in_groups", lambda: iter([70, 90]))
    monkeypatch.setattr(memory, "_free_in_address_space", lambda: None)
    assert available_bytes() == 70
    monkeypatch.setattr(memory, "_free_in_address_space", lambda: -5)
    assert available_bytes() == 0
