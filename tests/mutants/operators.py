"""Small faults, one at a time: every way in which a function of a source file may be altered."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
OPPOSITES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, of which kind, and which of the faults of its file it is.

    `first` and `last` are the lines of its statement, or of the head of that. `is_none` says that by its form alone it
    changes no result.
    """

    file: str
    function: str
    line: int
    first: int
    last: int
    kind: str
    before: str
    after: str
    number: int
    is_none: bool = False

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.kind}: {self.before} -> {self.after} (#{self.number})"


def _replaced(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for field, value in fields.items():
        setattr(other, field, value)
    return other


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", _replaced(node, value=not value)
    elif isinstance(value, int):
        yield "constant", _replaced(node, value=value + 1)
    elif isinstance(value, float):
        yield "constant", _replaced(node, value=2.0 * value if value else 1.0)
    elif isinstance(value, str):
        yield "string", _replaced(node, value="X" + value)


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    called = node.func
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    if name in OPPOSITES:
        field = "id" if isinstance(called, ast.Name) else "attr"
        yield "opposite", _replaced(node, func=_replaced(called, **{field: OPPOSITES[name]}))
    for i, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in _CHECKS_AND_MEMORY:
            yield "argument", _replaced(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])


def alternatives(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:  # noqa: C901, PLR0912 - a table, one line a kind
    """(kind, what stands in its place), for each fault that this node may have."""
    match node:
        case ast.Constant():
            yield from _of_constant(node)
        case ast.Call():
            yield from _of_call(node)
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield "comparison", _replaced(node, ops=[COMPARISONS[type(op)]()])
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", _replaced(node, op=ARITHMETIC[type(op)]())
        case ast.AugAssign(op=op):
            if type(op) in ARITHMETIC:
                yield "arithmetic", _replaced(node, op=ARITHMETIC[type(op)]())
            yield "statement", ast.copy_location(ast.Pass(), node)
        case ast.BoolOp(op=op):
            yield "logic", _replaced(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "logic" if isinstance(node.op, ast.Not) else "arithmetic", node.operand
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield "logic", _replaced(node, test=ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test))
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield "return", _replaced(node, value=ast.copy_location(ast.Constant(None), node))
        case ast.Expr(value=ast.Call()):
            yield "statement", ast.copy_location(ast.Pass(), node)
        case ast.Break():
            yield "statement", ast.copy_location(ast.Continue(), node)
        case ast.Continue():
            yield "statement", ast.copy_location(ast.Break(), node)


# The words of an error are read by people, and types by mypy: tests need not repeat either.
_LEFT_ALONE = (ast.Raise, ast.JoinedStr, ast.arguments)


# Whether the lengths or the numbers that these look at are what they must be, or whose memory may be used, changes no
# result where the code is right.
_CHECKS_AND_MEMORY = {"strict", "check_finite", "overwrite_a", "overwrite_b"}


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """(parent, field, index, child) of everything below `node` that may be at fault, in order."""
    for field, value in ast.iter_fields(node):
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for i, child in children:
            is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if not isinstance(child, ast.AST) or isinstance(child, _LEFT_ALONE) or is_docstring:
                continue
            if field in {"annotation", "returns", "decorator_list"} or _is_warning(child):
                continue
            if isinstance(child, ast.keyword) and child.arg in _CHECKS_AND_MEMORY:
                continue
            if _is_words(node, child):
                continue
            yield node, field, i, child
            yield from _places(child)


def _is_words(parent: ast.AST, node: ast.AST) -> bool:
    """Whether a text is what a check would say, or the name of a type."""
    if not (isinstance(parent, ast.Call) and isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    called = ast.unparse(parent.func)
    return "require" in called or called == "cast"


# Arrays whose values, or the want of them, are the same in whatever order they are kept.
_LAYOUT_ONLY = {"empty", "zeros", "ones", "full"}

# Statements that only tell the processor or the compiler what comes next.
_HINTS = {"prefetch", "vector_loop", "row_announce", "row_prefetch", "row_ask"}


def _is_none(parent: ast.AST, field: str, node: ast.AST, kind: str, other: ast.AST) -> bool:
    """Whether a fault changes no result, whatever the numbers are; not merely because nobody has found some that do.

    The smaller or the larger of two: if they are equal, either is right. A number that stands for zero or infinity, so
    near to it that twice the number does too. The order in memory of an array that is filled later. A hint that is not
    given. An X among the kinds of types, none of which has this letter.
    """
    match node:
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]):
            if not (isinstance(parent, ast.IfExp) and field == "test"):
                return False
            return {ast.unparse(parent.body), ast.unparse(parent.orelse)} == {ast.unparse(left), ast.unparse(right)}
        case ast.Constant(value=str()):
            is_among = isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.In | ast.NotIn)
            return is_among and ast.unparse(parent.left).endswith(".kind")
        case ast.Constant(value=float(value)):
            return value != 0.0 and not 1e-250 < value < 1e250
        case ast.Call(func=ast.Attribute(attr=name)) if kind == "argument" and name in _LAYOUT_ONLY:
            left_out = {each.arg for each in node.keywords} - {each.arg for each in other.keywords}
            return left_out == {"order"}
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in _HINTS
    return False


def _is_warning(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and "warn" in ast.unparse(node.value.func)


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """(qualified name, definition) of every function that is not within another."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node


def _faults(tree: ast.AST) -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST, str, ast.AST]]:
    for name, function in functions(tree):
        for parent, field, i, child in _places(function):
            for kind, other in alternatives(child):
                yield name, parent, field, i, child, kind, other


def _lines(function: ast.AST) -> dict[ast.AST, tuple[int, int]]:
    """(first, last) line of the statement to which a node belongs; in the head of a longer one, of the node itself."""
    found = {}
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and not isinstance(node, ast.Match):
            found |= dict.fromkeys(ast.walk(node), (node.lineno, node.end_lineno or node.lineno))
        elif hasattr(node, "lineno") and node not in found:
            is_whole = isinstance(node, ast.stmt)
            found[node] = (node.lineno, node.lineno if is_whole else node.end_lineno)
    return found


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else text[:97] + "..."


def mutants(file: str, source: str) -> list[Mutant]:
    """Every fault that may be put into `source`."""
    tree = ast.parse(source)
    lines = {node: place for _, function in functions(tree) for node, place in _lines(function).items()}
    return [
        Mutant(
            file,
            name,
            child.lineno,
            *lines[child],
            kind,
            _shown(child),
            _shown(other),
            number,
            _is_none(parent, field, child, kind, other),
        )
        for number, (name, parent, field, _, child, kind, other) in enumerate(_faults(tree))
    ]


def with_fault(source: str, number: int, keeps_names: bool = False) -> ast.AST:
    """The tree of `source` with this one of its faults.

    A function within another keeps its variables when its code is changed: if asked, names that the fault leaves out
    are still there, where they are never read.
    """
    tree = ast.parse(source)
    for found, (_, parent, field, i, child, _, other) in enumerate(_faults(tree)):
        if found == number:
            if keeps_names:
                names = sorted({each.id for each in ast.walk(child) if isinstance(each, ast.Name)})
                unread = [ast.Expr(ast.Name(name, ast.Load())) for name in names]
                _innermost(tree, child).body.append(ast.If(ast.Constant(False), unread or [ast.Pass()], []))
            if i is None:
                setattr(parent, field, other)
            else:
                getattr(parent, field)[i] = other
            return ast.fix_missing_locations(tree)
    raise LookupError(number)


def _innermost(tree: ast.AST, node: ast.AST) -> ast.FunctionDef:
    """The function to which a node belongs; `ast.walk` comes to outer ones first."""
    around = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and node in set(ast.walk(each))]
    return around[-1]
