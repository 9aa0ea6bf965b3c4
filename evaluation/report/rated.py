"""The report's section on people's ratings."""

from __future__ import annotations

from evaluation.report.document import Section, Table, number
from evaluation.run import RunFolder


def rated(run: RunFolder) -> Section | None:
    """Return the section on raters' means and agreement; None if no forms were collected."""
    if not (run.path / "people.json").exists():
        return None
    summary = run.read_json("people.json")
    questions = list(summary["questions"])
    means = Table(
        ("system", *questions),
        tuple(
            (name, *(_mean(row.get(question)) for question in questions)) for name, row in summary["systems"].items()
        ),
        "people.json, counted from people/ratings.jsonl",
    )
    agreement = Table(
        ("", *questions),
        (
            (
                "Krippendorff's alpha (interval)",
                *(number(summary["questions"][question]["alpha"]) for question in questions),
            ),
        ),
        "people.json",
    )
    bias = Table(
        ("rater", *questions, "ratings"),
        tuple(
            (name, *(number(row["bias"].get(question), 2) for question in questions), str(row["ratings"]))
            for name, row in summary["raters"].items()
        ),
        "people.json",
    )
    text = (
        f"{len(summary['raters'])} people rated blind. Left out for a failed attention check: "
        f"{', '.join(summary['inattentive']) or 'nobody'}.",
        "Alpha is 1 where all agree and 0 where they agree no more than by chance; below 0.667 means should not be "
        "leant on. A rater's bias is their mean minus the others' on the same drafts.",
    )
    return Section("What people say", text, (means, agreement, bias))


def _mean(row: dict[str, float] | None) -> str:
    if row is None:
        return "–"
    return f"{number(row['mean'], 2)} [{number(row['low'], 2)}, {number(row['high'], 2)}]"
