"""Evaluation runs for tests: posts, and given texts as if systems had drafted them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.domain import Intent, TargetGroup
from core.settings import Settings
from evaluation.lines import append_lines
from evaluation.metrics.bleu import Bleu
from evaluation.metrics.chrf import ChrF
from evaluation.metrics.distinct import Distinct
from evaluation.metrics.length import Length
from evaluation.metrics.metric import Metric
from evaluation.records import EvaluationPost, Sample, System, SystemDraft
from evaluation.run import RunFolder
from evaluation.scoring import score

SYSTEMS = {name: System(strategy=name, model="none", retriever="hybrid") for name in ("compose", "free", "plain")}
CHEAP: tuple[Metric, ...] = (Bleu(), ChrF(), Distinct(1), Length())


def make_sample(
    text: str, *, references: Sequence[str] = (), language: str = "en", post: str = "Zorblaxians ruin everything."
) -> Sample:
    return Sample(post=post, text=text, language=language, references=tuple(references))


def make_posts(count: int) -> list[EvaluationPost]:
    return [
        EvaluationPost(
            id=f"p{number}",
            text=f"Zorblaxians ruin harbour number {number}.",
            language=("en", "es")[number % 2],
            groups=(TargetGroup.OTHER if number % 3 else TargetGroup.WOMEN,),
            references=(f"Zorblaxians built harbour {number}, and they keep it clean.", "Ask them what they do there."),
        )
        for number in range(count)
    ]


def make_run(path: Path, drafts: Mapping[str, Sequence[str]], seed: int = 7) -> RunFolder:
    """Write a run in which each system drafted the given texts, one per post in order."""
    count = max(len(texts) for texts in drafts.values())
    posts = make_posts(count)
    run = RunFolder.create(path, posts, [SYSTEMS[name] for name in drafts], seed, Settings(data_dir=path / "data"))
    for name, texts in drafts.items():
        append_lines(
            run.drafts_path,
            (
                SystemDraft(
                    post_id=post.id, system=SYSTEMS[name].name, text=text, language=post.language or "en",
                    intent=Intent.INFORMATIVE, groups=post.groups, writer=name, passes=bool(text),
                )
                for post, text in zip(posts, texts, strict=False)
            ),
        )  # fmt: skip
    return run


async def scored_run(path: Path, drafts: Mapping[str, Sequence[str]]) -> RunFolder:
    run = make_run(path, drafts)
    await score(run, CHEAP, ["FA is missing."], lambda steps: None)
    return run
