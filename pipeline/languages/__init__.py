"""Languages as data: one file for each, all validated by one model."""

from pipeline.languages.loading import DEFAULT, UNKNOWN, has_pack, pack, packs
from pipeline.languages.pack import LanguagePack, Level

__all__ = ["DEFAULT", "UNKNOWN", "LanguagePack", "Level", "has_pack", "pack", "packs"]
