"""A compiled function and all that it calls are one piece, and only the piece becomes machine code.

Numba makes of a function that is called by another a library of its own: wrappers for Python, optimised from end to
end, machine code; then links it into the caller and optimises it again there. All functions here are inlined, so that
nothing of it would ever run, and it took a third of the time of a first fit.

So a function that compiled code calls ends as LLVM's intermediate code, in a list of its own beside the one of
functions that Python calls. What goes into a caller is then the same whatever happened before in this process, and
so is the last bit of a result.
"""

import threading
from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

_here = threading.local()


def _depth() -> int:
    """How many functions are being compiled in this thread, each called by the one before."""
    return getattr(_here, "depth", 0)


class _Library(JITCodeLibrary):
    """Numba's library, which makes a manager of passes once, and not for each function that is only declared."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class _Piece(_Library):
    """Intermediate code that others link, of which no machine code is made.

    A function that calls no other is optimised on its own, under its own permissions (`vector_loop`); any other is
    optimised where it ends up.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if initialisers := getattr(library, "_reload_init", None):  # the oldest Numba has none
                self._reload_init.update(initialisers)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if not any(isinstance(library, _Piece) for library in self._linking_libraries):
            self._optimize_final_module()
        self._finalize_dynamic_globals()
        self._finalized = True


class _Whole(_Library):
    """Machine code of a function that Python calls, and of all that is inlined into it."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self.codegen.set_env(variable.name, environment)


class _Flags(Flags):
    """Numba's flags, compared at a fraction of the price: they are part of each key by which it finds a function.

    The hash is theirs, a constant, so that equal flags of either class are one key.
    """

    __slots__ = ()
    _DEFAULTS = {name: option.default for name, option in Flags.options.items()}  # noqa: RUF012
    _HASH = hash(Flags())

    def __hash__(self) -> int:
        return self._HASH

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        return self._values == other._values or self._DEFAULTS | self._values == self._DEFAULTS | other._values


class _OnePiece(Compiler):
    """Numba's compiler, which for a function inside another makes a piece, without what Python would need."""

    def __init__(self, typing: Any, target: Any, _library: None, args: Any, returned: Any, flags: Any, known: Any):
        is_inside = _depth() > 0
        library = (_Piece if is_inside else _Whole)(target.codegen(), "mercer")
        library.enable_object_caching()
        flags = _Flags(flags)
        flags.no_cfunc_wrapper = True
        if is_inside:
            flags.no_compile = flags.no_cpython_wrapper = True
        else:
            flags.forceinline = False
        super().__init__(typing, target, library, args, returned, flags, known)

    def compile_extra(self, func: Any) -> Any:
        _here.depth = _depth() + 1
        try:
            return super().compile_extra(func)
        finally:
            _here.depth -= 1


class OnePieceDispatcher(CPUDispatcher):
    """A function that Python calls as machine code, and other compiled functions as a part of theirs."""

    def __init__(self, py_func: Callable[..., Any], targetoptions: dict[str, Any]) -> None:
        self._inlined: dict[Any, Any] = {}
        super().__init__(py_func, targetoptions=targetoptions, pipeline_class=_OnePiece)

    def _reset_overloads(self) -> None:
        self._inlined.clear()
        super()._reset_overloads()

    @property
    def nopython_signatures(self) -> list[Any]:
        return [result.signature for result in self._inlined.values()] if _depth() else super().nopython_signatures

    def get_overload(self, sig: Any) -> Any:
        if _depth():
            return self._inlined[tuple(normalize_signature(sig)[0])].entry_point
        return super().get_overload(sig)

    def compile(self, sig: Any) -> Any:
        if not _depth():
            return super().compile(sig)
        args, return_type = normalize_signature(sig)
        if tuple(args) not in self._inlined:
            with self._compiling_counter:
                result = self._compiler.compile(args, return_type)
            result = result._replace(entry_point=object())
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self._inlined[tuple(args)] = result
        return self._inlined[tuple(args)].entry_point
