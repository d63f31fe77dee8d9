"""Every class that a model file may hold is where its registration says."""

from importlib import import_module

import pytest

from mercer import SVC
from mercer.exchange.model_file import registry
from mercer.kernels import RBF


def test_every_registered_class_is_where_its_registration_says():
    names = registry.known_names()
    assert all(registry.kind_named(name).load().__name__ for name in names)
    lost = [place for place in registry._by_class if not hasattr(import_module(place[0]), place[1])]
    assert lost == []


def test_a_name_in_files_stands_for_one_class():
    kind = registry.kind_of(RBF(0.5))
    assert registry.kind_named(kind.name) is kind
    assert (kind.module, kind.qualname) == ("mercer.kernels.vector.rbf", "RBF")
    assert kind.load() is RBF
    with pytest.raises(ValueError, match="two classes cannot both be"):
        registry.record("mercer.kernels.vector.linear:Linear", name=kind.name)
    assert registry.kind_named(kind.name) is kind


def test_what_is_registered_is_told():
    assert not registry.kind_of(RBF(0.5)).is_estimator
    svc = registry.kind_of(SVC())
    assert svc.is_estimator
    assert svc.check is not None
    for name in ("nobody", 3, None):
        assert registry.kind_named(name) is None
