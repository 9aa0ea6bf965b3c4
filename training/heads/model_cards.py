"""Write the model cards of the group, hate and counterspeech heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Template

from core.domain import Route
from core.settings import TriageSettings
from pipeline.heads import COUNTER
from pipeline.routing_rules import COUNTERSPEECH_FROM
from training.heads import measure
from training.heads.measure import Measurement
from training.heads.sample import Part, Sample
from training.heads.written import FUNCTIONAL

SOURCES = (
    ("HateXplain", "HateXplain validation and test parts", "MIT", "all heads"),
    ("CrowdCounter posts", "CrowdCounter, posts", "MIT", "groups, hate"),
    ("CrowdCounter replies", "CrowdCounter, human replies", "MIT", "counterspeech, not hate"),
    ("Hatemoji", "HatemojiBuild", "CC BY 4.0", "groups, hate"),
    ("HatemojiCheck", "HatemojiCheck", "CC BY 4.0", "groups, hate"),
    ("EDOS", "EDOS", "CC0", "women, hate"),
    ("MLMA", "MLMA (English, French, Arabic)", "MIT", "groups, hate"),
    ("Davidson", "Davidson 2017 (hate; neither)", "MIT", "hate"),
    ("Wikipedia", "ConversationAI bias set, Wikipedia comments", "CC BY 4.0", "not hate"),
    ("written", "this project, `sentences.toml`, six languages", "Apache-2.0", "groups, hate"),
    ("functional", "this project, `functional.toml`, hard cases", "Apache-2.0", "all heads"),
    ("claims", "this project, the claims that evidence answers", "Apache-2.0", "groups, hate"),
    ("answers to claims", "this project, the counterspeech to those claims", "Apache-2.0", "counterspeech, not hate"),
)
TEMPLATES = Path(__file__).with_name("cards")


def write(
    measured: Measurement, without_tokens: Measurement, training: Sequence[Sample], digest: str
) -> Mapping[str, str]:
    """Return the cards by file name, without its suffix, for the heads whose file has the SHA-256 `digest`."""
    settings = TriageSettings()
    common = {
        "about": _filled("about", _about(training, digest)),
        "doubt_below": settings.doubt_below,
        "dismiss_below": settings.dismiss_below,
    }
    return {
        "group_head": _filled("group_head", common | _groups(measured, settings)),
        "hate_head": _filled("hate_head", common | _hate(measured) | _aucs(without_tokens, "without")),
        "counterspeech_head": _filled("counterspeech_head", common | _counter(measured)),
    }


def _filled(name: str, values: Mapping[str, object]) -> str:
    return Template((TEMPLATES / f"{name}.md").read_text("utf-8")).substitute(values)


def _about(training: Sequence[Sample], digest: str) -> Mapping[str, object]:
    count = Counter(sample.origin for sample in training)
    return {
        "date": datetime.now(UTC).date(),
        "digest": digest,
        "seen": f"{len(training):,}",
        "sources": "\n".join(
            f"| {title} | {licence} | {count[key]:,} | {use} |" for key, title, licence, use in SOURCES
        ),
    }


def _groups(measured: Measurement, settings: TriageSettings) -> dict[str, object]:
    attacks = measured.flags(Part.REPORT) & measured.hateful
    emoji = measure.adversarial(measured) & measured.hateful
    written = measured.of(FUNCTIONAL) & measured.hateful
    accuracy, macro, posts = measure.surest(measured, attacks)
    passing = (measured.scores[attacks][:, : len(measure.GROUPS)] >= settings.group_threshold).sum(axis=1)
    return {
        "threshold": settings.group_threshold,
        "posts": posts,
        "accuracy": f"{accuracy:.1%}",
        "macro": f"{macro:.3f}",
        "none": f"{(passing == 0).mean():.1%}",
        "groups": "\n".join(measure.group_rows(measured, attacks, settings.group_threshold)),
        "emoji_groups": "\n".join(measure.group_rows(measured, emoji, settings.group_threshold)),
        "emoji_accuracy": f"{measure.surest(measured, emoji)[0]:.1%}",
        "written_accuracy": f"{measure.surest(measured, written)[0]:.1%}",
        "routes": "\n".join(measure.route_rows(measured, attacks)),
    }


def _hate(measured: Measurement) -> dict[str, object]:
    flags, functional = measured.flags(Part.REPORT), measured.of(FUNCTIONAL)
    bins = measure.reliability(measured, flags)
    return _aucs(measured, "auc") | {
        "posts": int(flags.sum()),
        "sentences": int(functional.sum()),
        "limits": "\n".join(measure.limit_rows(measured, flags)),
        "chosen": "\n".join(measure.limit_rows(measured, measured.flags(Part.CALIBRATE))),
        "reliability": "\n".join(f"| {mean:.3f} | {share:.3f} | {count} |" for mean, share, count in bins),
        "kinds": "\n".join(measure.kind_rows(measured, lambda sample: sample.kind)),
        "languages": "\n".join(measure.kind_rows(measured, lambda sample: sample.language)),
        "routes": "\n".join(measure.route_rows(measured, flags & measured.hateful)),
    }


def _aucs(measured: Measurement, prefix: str) -> dict[str, object]:
    flags, functional = measured.flags(Part.REPORT), measured.of(FUNCTIONAL)
    decided = flags & (measured.label != "offensive")
    return {
        f"{prefix}_hate": f"{measured.auc(measured.label == 'hate', decided):.3f}",
        f"{prefix}_both": f"{measured.auc(measured.hateful, flags):.3f}",
        f"{prefix}_emoji": f"{measured.auc(measured.hateful, measure.adversarial(measured)):.3f}",
        f"{prefix}_functional": f"{measured.auc(measured.hateful, functional):.3f}",
    }


def _counter(measured: Measurement) -> dict[str, object]:
    flags, replies = measured.flags(Part.REPORT), measure.replies(measured)
    among = replies | flags
    taken = measured.counter >= COUNTERSPEECH_FROM
    below = measured.routes == Route.DISMISS.value
    return {
        "auc": f"{measured.auc(replies, among, COUNTER):.4f}",
        "counter_from": COUNTERSPEECH_FROM,
        "replies": int(replies.sum()),
        "dismissed": f"{measured.share(Route.DISMISS, replies):.1%}",
        "in_doubt": f"{measured.share(Route.DOUBT, replies):.1%}",
        "drafted": f"{measured.share(Route.DRAFT, replies):.1%}",
        "hateful": int((taken & below & flags & measured.hateful).sum()),
        "of_hateful": int((flags & measured.hateful).sum()),
        "normal": int((taken & below & flags & ~measured.hateful).sum()),
        "of_normal": int((flags & ~measured.hateful).sum()),
        "functional": int((taken & below & measured.of(FUNCTIONAL) & measured.hateful).sum()),
        "of_functional": int((measured.of(FUNCTIONAL) & measured.hateful).sum()),
    }
