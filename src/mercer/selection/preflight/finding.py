"""What there is to know about data, in words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something to know about the data; `is_problem` if something should be done about it."""

    subject: str
    message: str
    is_problem: bool = False

    def __str__(self) -> str:
        return f"{'!' if self.is_problem else ' '} {self.subject}: {self.message}"
