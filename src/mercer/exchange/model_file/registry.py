"""The classes that a model file may contain, each with its fields and their rules. Nothing else is ever created.

A class is registered by one line, in `kernels`, `values`, `estimators` or
`transformers`:

- `record`: a dataclass, made by its constructor, which checks its fields. The rules follow from the
  annotations.
- `estimator`: constructor parameters, and fitted attributes by name; the rule of an attribute is the
  same for all estimators (`attributes.ATTRIBUTES`).
- `plain`: an object whose fields are set directly, after they have been checked.

Registering imports nothing: a class is imported when a file contains it.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer.exchange.model_file import rules
from mercer.exchange.model_file.attributes import ATTRIBUTES, PARAMETERS

if TYPE_CHECKING:
    from mercer.exchange.model_file.rules import Rule

# The rule of a dataclass field, by its annotation.
_ANNOTATIONS = {
    float: rules.number(finite=False),
    int: rules.integer(),
    bool: rules.flag,
    str: rules.text,
    np.ndarray: rules.array("fiu", finite=False),
}


@dataclass(frozen=True)
class Kind:
    """A class that a model file may contain.

    Attributes
    ----------
    name : str
        The name in files, which never changes, even if the class moves.
    module, qualname : str
        Where the class is now.
    fields : dict or None
        Rules by field; None for those of a dataclass.
    state : dict or None
        Rules by fitted attribute, if the fields are constructor parameters.
    constants : dict
        Attributes that a loaded object has but a file does not.
    make : callable or None
        ``make(cls, fields)``, if setting the fields is not enough.
    check : callable or None
        ``check(object)``, how its fields must fit together.
    former : dict
        Names of parameters and attributes in older files, and their current names.
    """

    name: str
    module: str
    qualname: str
    fields: dict | None = None
    state: dict | None = None
    constants: dict = field(default_factory=dict)
    make: object = None
    check: object = None
    former: dict = field(default_factory=dict)

    def load(self) -> Any:
        """The class itself."""
        return getattr(import_module(self.module), self.qualname)

    def rules(self) -> "dict[str, Rule]":
        """The rule of each field, in the order in which they are written."""
        if self.fields is not None:
            return self.fields
        cls = self.load()
        if self.state is not None:
            return {name: PARAMETERS.get(name, rules.anything) for name in inspect.signature(cls).parameters}
        own = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
        return {each.name: _ANNOTATIONS.get(cast(type, each.type), rules.anything) for each in own if each.init}

    @property
    def is_estimator(self) -> bool:
        return self.state is not None


_by_name: dict[str, Kind] = {}
_by_class: dict[tuple[str, str], Kind] = {}


def add(kind: Kind, *aliases: tuple[str, str]) -> None:
    """Register a kind, also for other classes, each as (module, name), that are written as it.

    If a class has several kinds, the last one is written.
    """
    if kind.name in _by_name:
        raise ValueError(f"two classes cannot both be {kind.name!r} in a model file")
    _by_name[kind.name] = kind
    for place in ((kind.module, kind.qualname), *aliases):
        _by_class[place] = kind


def _named(home: str) -> tuple[str, str]:
    module, _, qualname = home.partition(":")
    return module, qualname


def record(
    home: str,
    name: str | None = None,
    check: Callable[[Any], None] | None = None,
    make: Callable[[Any, dict[str, Any]], Any] | None = None,
) -> None:
    """Register a dataclass, ``record("mercer.kernels.vector.rbf:RBF")``."""
    module, qualname = _named(home)
    add(Kind(name or qualname, module, qualname, check=check, make=make))


def plain(
    home: str,
    fields: "dict[str, Rule]",
    name: str | None = None,
    constants: dict[str, Any] | None = None,
    make: Callable[[Any, dict[str, Any]], Any] | None = None,
    check: Callable[[Any], None] | None = None,
) -> None:
    """Register an object by its attributes and their rules."""
    module, qualname = _named(home)
    kind = Kind(name or qualname, module, qualname, fields, None, constants or {}, make, check)
    add(kind)


def estimator(
    home: str,
    state: Iterable[str],
    name: str | None = None,
    check: Callable[[Any], None] | None = None,
    former: dict[str, str] | None = None,
) -> None:
    """Register an estimator by the names of its fitted attributes (see `attributes.ATTRIBUTES`)."""
    module, qualname = _named(home)
    own = {one: ATTRIBUTES[one] for one in state}
    add(Kind(name or qualname, module, qualname, None, own, check=check, former=former or {}))


def kind_of(value: Any) -> Kind | None:
    """The kind of an object, or None if it has none."""
    _load_registrations()
    return _by_class.get((type(value).__module__, type(value).__qualname__))


def kind_named(name: object) -> Kind | None:
    """The kind with this name in files, or None."""
    _load_registrations()
    return _by_name.get(name) if isinstance(name, str) else None


def known_names() -> list[str]:
    """The names of all kinds."""
    _load_registrations()
    return sorted(_by_name)


def _load_registrations() -> None:
    for module in ("kernels", "values", "estimators", "transformers"):
        import_module(f"mercer.exchange.model_file.known.{module}")
