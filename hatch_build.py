"""Puts compiled code into a wheel, if MERCER_COMPILED names a folder of it (`make wheel`); else it is plain Python."""

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCode(BuildHookInterface):
    """Adds what `mercer compile` left in a folder for each level of the instruction set."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; an editable one has the sources' own cache."""
        folder = os.environ.get("MERCER_COMPILED")
        if not folder or version == "editable":
            return
        files = list(Path(folder).rglob("*.nb[ic]"))
        if not files:
            raise FileNotFoundError(f"MERCER_COMPILED={folder} holds no compiled code: `make wheel` puts it there")
        for file in files:
            build_data["force_include"][str(file)] = f"mercer/_compiled/{file.relative_to(folder)}"
        build_data["pure_python"] = False
        python = f"cp{sysconfig.get_config_var('py_version_nodot')}"
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"{python}-{python}-{platform}"
