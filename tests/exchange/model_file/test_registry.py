"""Every class that a model file may hold is where its registration says."""

from importlib import import_module

from mercer.exchange.model_file import registry


def test_every_registered_class_is_where_its_registration_says():
    names = registry.known_names()
    assert all(registry.kind_named(name).load().__name__ for name in names)
    lost = [place for place in registry._by_class if not hasattr(import_module(place[0]), place[1])]
    assert lost == []
