"""The folder of an evaluation: its posts, the output of each step, and a manifest of what produced them."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from core.domain import Record, now
from core.errors import BadInput, describe_errors
from core.settings import Settings
from evaluation.lines import append_lines, mend, read_lines
from evaluation.posts.reading import RejectedLine
from evaluation.records import DraftScores, EvaluationPost, System, SystemDraft

PACKAGES = ("rejoinder", "numpy", "scipy", "sacrebleu", "rouge-score", "nltk", "matplotlib")
PROMPTS = ("prompts.toml", "heads.npz")
"""Files in `pipeline/data` whose digests a manifest records: the models' prompts and the triage heads."""


class Manifest(Record):
    """The inputs and versions behind a run.

    `seed` decides samples, the judge's pairs and resampling, but not how chat models sample. `scored_by`, empty until
    the run is scored, names the models or rules that computed each metric for which there is a choice.
    """

    posts_sha256: str
    posts: int
    systems: tuple[System, ...]
    seed: int
    started_at: datetime
    versions: dict[str, str]
    prompts: dict[str, str]
    settings: dict[str, Any]
    scored_by: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def of(cls, posts: Sequence[EvaluationPost], systems: Sequence[System], seed: int, settings: Settings) -> Self:
        """Return the manifest of a run that begins now."""
        sections = settings.model_dump(mode="json", include={"chat", "draft", "kb", "triage", "guard", "embedding"})
        for section in ("chat", "embedding"):
            sections[section].pop("api_key", None)
        return cls(
            posts_sha256=posts_digest(posts),
            posts=len(posts),
            systems=tuple(systems),
            seed=seed,
            started_at=now(),
            versions=_versions(),
            prompts={name: sha256((files("pipeline") / "data" / name).read_bytes()).hexdigest() for name in PROMPTS},
            settings=sections,
        )


class RunFolder:
    """One evaluation on disk. Drafts, scores and verdicts are only appended to, so an interrupted step can resume."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest_path = path / "manifest.json"
        self.posts_path = path / "posts.jsonl"
        self.drafts_path = path / "drafts.jsonl"
        self.scores_path = path / "scores.jsonl"
        self.totals_path = path / "scores.json"
        self.verdicts_path = path / "verdicts.jsonl"

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the folder of a run; raises BadInput if its manifest or its posts are missing."""
        run = cls(path)
        for needed in (run.manifest_path, run.posts_path):
            if not needed.exists():
                raise BadInput(
                    f"{path} holds no evaluation, for it has no {needed.name}; "
                    "make one with `rejoinder evaluate generate POSTS --out FOLDER`."
                )
        return run

    @classmethod
    def create(
        cls,
        path: Path,
        posts: Sequence[EvaluationPost],
        systems: Sequence[System],
        seed: int,
        settings: Settings,
        rejected: Iterable[RejectedLine] = (),
    ) -> Self:
        """Begin a run, or continue one on the same posts, perhaps with more systems.

        Raises BadInput if the folder holds an evaluation of other posts.
        """
        run = cls(path)
        manifest = Manifest.of(posts, systems, seed, settings)
        if run.manifest_path.exists():
            manifest = _continued(run, manifest)
        else:
            path.mkdir(parents=True, exist_ok=True)
            run.posts_path.unlink(missing_ok=True)
            append_lines(run.posts_path, posts)
            append_lines(path / "rejected.jsonl", rejected)
        run.write_json(run.manifest_path.name, manifest.model_dump(mode="json"))
        mend(run.drafts_path)
        return run

    def manifest(self) -> Manifest:
        """Return the manifest; raises BadInput if it is not a manifest of this version."""
        try:
            return Manifest.model_validate_json(self.manifest_path.read_bytes())
        except ValidationError as error:
            raise BadInput(f"{self.manifest_path} is no manifest of this version: {describe_errors(error)}.") from error

    def record_scoring(self, by: dict[str, str]) -> None:
        """Record in the manifest the models or rules that computed each metric."""
        manifest = self.manifest().model_copy(update={"scored_by": by})
        self.write_json(self.manifest_path.name, manifest.model_dump(mode="json"))

    def posts(self) -> dict[str, EvaluationPost]:
        """Return the posts by id, in their order; raises BadInput if their number differs from the manifest's."""
        posts = {post.id: post for post in read_lines(self.posts_path, EvaluationPost)}
        begun_with = self.manifest().posts
        if len(posts) != begun_with:
            raise BadInput(f"{self.posts_path} has {len(posts)} posts, and the run was begun with {begun_with}.")
        return posts

    def drafts(self) -> Iterator[SystemDraft]:
        """Yield the drafts one at a time: there may be more than fit in memory."""
        return read_lines(self.drafts_path, SystemDraft)

    def scores(self) -> Iterator[DraftScores]:
        """Yield the drafts' scores; raises BadInput if the run was not scored yet."""
        if not (self.totals_path.exists() and self.scores_path.exists()):
            raise BadInput(f"{self.path} was not scored yet; run `rejoinder evaluate score {self.path}`.")
        return read_lines(self.scores_path, DraftScores)

    def totals(self) -> dict[str, Any]:
        """Return the content of `scores.json`; raises BadInput if the run was not scored yet."""
        if not self.totals_path.exists():
            raise BadInput(f"{self.path} was not scored yet; run `rejoinder evaluate score {self.path}`.")
        return self.read_json(self.totals_path.name)

    def read_json(self, name: str) -> dict[str, Any]:
        """Return what `write_json` wrote under this name; raises BadInput if the file is damaged."""
        path = self.path / name
        try:
            value: dict[str, Any] = json.loads(path.read_bytes())
        except ValueError as error:
            raise BadInput(
                f"{path} is damaged ({error}); remove it, and run the command again that wrote it."
            ) from error
        return value

    def write_json(self, name: str, value: object) -> Path:
        """Write a value as JSON with sorted keys, so that the same value gives the same bytes; return the path."""
        path = self.path / name
        part = path.with_suffix(".part")
        part.write_text(_as_json(value), encoding="utf-8")
        part.replace(path)
        return path


def posts_digest(posts: Iterable[EvaluationPost]) -> str:
    """Return the SHA-256 of the posts as `posts.jsonl` stores them."""
    digest = sha256()
    for post in posts:
        digest.update(post.model_dump_json().encode() + b"\n")
    return digest.hexdigest()


def _continued(run: RunFolder, new: Manifest) -> Manifest:
    old = run.manifest()
    if old.posts_sha256 != new.posts_sha256:
        raise BadInput(f"{run.path} holds an evaluation of other posts; name another folder with --out, or remove it.")
    systems = {system.name: system for system in (*old.systems, *new.systems)}
    return old.model_copy(update={"systems": tuple(systems.values())})


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
