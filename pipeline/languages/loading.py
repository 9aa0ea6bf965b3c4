"""Load the language packs that ship beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

from pydantic import ValidationError

from core.errors import BadSettings, describe_errors
from pipeline.languages.pack import LanguagePack

UNKNOWN = "und"
"""The code of a language that could not be detected."""
DEFAULT = "en"
"""The language of replies to posts of unknown language; its pack serves languages that have none."""


@lru_cache(maxsize=1)
def packs() -> Mapping[str, LanguagePack]:
    """Return all packs by ISO 639-1 code, the default first; raises BadSettings when one can't be read."""
    files = (file for file in resources.files("pipeline.languages").iterdir() if file.name.endswith(".toml"))
    codes = {file.name.removesuffix(".toml"): file for file in files}
    ordered = sorted(codes, key=lambda code: (code != DEFAULT, code))
    return MappingProxyType({code: read(codes[code]) for code in ordered})


def read(file: Traversable) -> LanguagePack:
    """Read one pack; raises BadSettings naming the file, the field and the fault."""
    try:
        return LanguagePack.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(
            f"The language pack {file.name} is not readable TOML: {error}. Correct that place."
        ) from error
    except ValidationError as error:
        raise BadSettings(f"The language pack {file.name}: {describe_errors(error)}. Correct it.") from error


def pack(language: str) -> LanguagePack:
    """Return the pack of `language`, or the default one if there is none."""
    return packs().get(language) or packs()[DEFAULT]


def has_pack(language: str) -> bool:
    """Tell whether `language` has a pack of its own to judge replies by."""
    return language in packs()
