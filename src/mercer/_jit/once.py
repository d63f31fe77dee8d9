"""A value computed when it is first asked for, and kept with its object."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class computed_once(Generic[T]):  # noqa: N801 - used as a decorator
    """`functools.cached_property` without its lock.

    Python 3.11 has one lock for all instances of a class. A child forked while another thread holds it would wait for
    ever. Two threads that race here compute the same value.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value
