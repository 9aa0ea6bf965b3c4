"""A few mild, invented cases, written to the ledger as the stream would."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import (
    AttackKind,
    Candidate,
    Check,
    Claim,
    CounterClaim,
    DraftRequest,
    Duel,
    Evidence,
    FlaggedPost,
    Frame,
    GroupScore,
    Intent,
    Origin,
    Plan,
    Route,
    TargetGroup,
    Triage,
    now,
)
from ledger import Ledger
from pipeline.draft import UNSURE, in_doubt
from tests.factories import make_draft, make_evidence, make_grounding, make_post, make_source, make_triage

PLATFORM = "forum"
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script> Zorblaxians <b>ruin</b> everything'
DRAFT = (
    "Every child has a right to education, and the Convention on the Rights of the Child says so without exceptions. "
    "A school that welcomes newcomers keeps that promise for all."
)

UDHR = make_evidence(
    "udhr-1",
    "Everyone is born free, and nobody has less dignity or fewer rights than anybody else.",
    source=make_source(locator="article 1"),
    score=0.91,
)
CRC = make_evidence(
    "crc-28",
    "States recognise that every child has a right to education, on the basis of equal opportunity.",
    groups=(TargetGroup.MIGRANTS,),
    source=make_source(
        title="Convention on the Rights of the Child",
        symbol="A/RES/44/25",
        locator="article 28",
        year=1989,
        url="https://docs.un.org/en/A/RES/44/25",
    ),
    score=0.86,
)
SHORTENED = CRC.model_copy(
    update={
        "id": "zorblax-7",
        "text": "The Council of Zorblax, having heard the harbour towns, finds that ramps at piers are used by all "
        "and asks its members to build them wherever a moon has a harbour.",
        "summary": "Ramps at piers are used by all, and the Council of Zorblax asks for more of them.",
    }
)
UNSAFE_LINK = CRC.model_copy(update={"source": CRC.source.model_copy(update={"url": "javascript:alert(3)"})})

COUNTER = "Work is not taken away: newcomers also open shops and hire people."
HEARSAY = make_evidence(
    "zorblax-jobs",
    "A survey of Zorblax found two new jobs for each newcomer.",
    groups=(TargetGroup.MIGRANTS,),
    source=make_source(institution="Office for Moons", title="Work in the harbour towns", symbol="", locator="page 3"),
    score=0.8,
).model_copy(
    update={"strength": "fair", "secondhand": True, "region": "Zorblax", "provisional": True, "claims": ("jobs",)}
)
CLAIM = Claim(
    id="jobs",
    kind=AttackKind.CLAIM,
    gist="Migrants take work away from locals.",
    counter_claims=(CounterClaim(intent=Intent.INFORMATIVE, text=COUNTER),),
    score=0.8,
)

CHECKS = (
    Check(name="sentences", passed=True, value=2, threshold=2),
    Check(name="length", passed=True, value=172, threshold=500),
    Check(name="echo", passed=True, value=0.47, threshold=0.5, detail="repeats: school, children"),
    Check(name="stance", passed=True, value=0, threshold=0),
    Check(name="numbers", passed=True, value=0, threshold=0),
    Check(name="toxicity", passed=True, value=0.02, threshold=0.5),
)


def post(number: int, text: str = "Newcomers ruin our schools, keep their children out.") -> FlaggedPost:
    return make_post(
        f"post-{number}", text, platform=PLATFORM, language="en", author_id=f"author-{number}",
        reason="reported by 3 readers", url=f"https://forum.example/p/{number}",
    )  # fmt: skip


def triage_of(group: TargetGroup = TargetGroup.MIGRANTS, route: Route = Route.DRAFT, hate: float = 0.87) -> Triage:
    triage = make_triage(group, route=route, hate=hate, score=0.93, embedding="AAAA")
    less_sure = GroupScore(group=TargetGroup.PEOPLE_OF_COLOUR, score=0.41)
    return triage.model_copy(update={"groups": (*triage.groups, less_sure)})


async def add_pending(
    ledger: Ledger,
    flagged: FlaggedPost,
    text: str = DRAFT,
    *,
    origin: Origin = Origin.MODEL,
    group: TargetGroup = TargetGroup.MIGRANTS,
    evidence: Sequence[Evidence] = (CRC, UDHR),
    checks: Sequence[Check] = CHECKS,
    note: str = "",
    route: Route = Route.DRAFT,
    hate: float = 0.87,
    plan: Plan | None = None,
) -> str:
    """Bring a post to the desk and return its key."""
    await ledger.stages.receive([flagged])
    await ledger.stages.triage(flagged, triage_of(group, route, hate))
    grounding = make_grounding(*evidence, note=note).model_copy(update={"plan": plan} if plan else {})
    await ledger.stages.ground(flagged.key, grounding, DraftRequest())
    await add_draft(ledger, flagged.key, 1, text, origin=origin, checks=checks, note=note)
    return flagged.key


async def add_doubtful(ledger: Ledger, flagged: FlaggedPost, hate: float = 0.12) -> str:
    """Bring a post to the desk whose hatefulness is in doubt, and return its key."""
    return await add_pending(ledger, flagged, origin=Origin.NONE, note=in_doubt(hate), route=Route.DOUBT, hate=hate)


async def add_escalated(ledger: Ledger, flagged: FlaggedPost) -> str:
    """Have triage escalate a post to people, and return its key."""
    await ledger.stages.triage(flagged, triage_of(route=Route.ESCALATE))
    return flagged.key


async def add_unsure(ledger: Ledger, flagged: FlaggedPost) -> str:
    """Bring a post to the desk without a draft, because its evidence may not answer it; return its key."""
    unsure = CLAIM.model_copy(update={"unsure": True})
    await ledger.stages.receive([flagged])
    await ledger.stages.triage(flagged, triage_of())
    grounding = make_grounding(CRC, HEARSAY).model_copy(update={"claims": (unsure,)})
    await ledger.stages.ground(flagged.key, grounding, DraftRequest())
    await add_draft(ledger, flagged.key, 1, "", origin=Origin.NONE, note=UNSURE)
    return flagged.key


async def add_answered(ledger: Ledger, flagged: FlaggedPost, hate: float = 0.87) -> str:
    """Bring a post to the desk whose draft is made from sentences on file, with facts of every mark; return its key."""
    text = f"{COUNTER} {HEARSAY.text}"
    grounding = make_grounding(CRC, HEARSAY).model_copy(update={"claims": (CLAIM,)})
    candidate = Candidate(
        text=text, origin=Origin.COMPOSER, checks=CHECKS, strategy="compose", claim=CLAIM.id, facts=(HEARSAY.id,)
    )
    draft = make_draft(flagged.key, 1, text, origin=Origin.COMPOSER, model="", checks=CHECKS, created_at=now())
    await ledger.stages.receive([flagged])
    await ledger.stages.triage(flagged, triage_of(hate=hate))
    await ledger.stages.ground(flagged.key, grounding, DraftRequest())
    await ledger.stages.draft(draft.model_copy(update={"candidates": (candidate,)}))
    return flagged.key


async def add_duelled(ledger: Ledger, flagged: FlaggedPost, words: str = "") -> str:
    """Bring a post to the desk that a model read and whose draft won two duels, all with `words`; return its key."""
    reading, rivals = words or "It paints children as a danger.", [words or "Nobody has to leave.", f"Why? {words}"]
    plan = Plan(strategy="tournament", frames=(Frame(name="implication", reading=reading),))
    duels = (
        Duel(first=DRAFT, second=rivals[0], in_order=(7, 5.5), turned=(6, 6)),
        Duel(first=DRAFT, second=rivals[1], in_order=(8, 2), turned=(2, 8)),
    )
    await ledger.stages.receive([flagged])
    await ledger.stages.triage(flagged, triage_of())
    await ledger.stages.ground(flagged.key, make_grounding(CRC).model_copy(update={"plan": plan}), DraftRequest())
    draft = make_draft(flagged.key, 1, DRAFT, origin=Origin.MODEL, model="sample-model", checks=CHECKS)
    await ledger.stages.draft(draft.model_copy(update={"duels": duels}))
    return flagged.key


async def add_draft(
    ledger: Ledger,
    key: str,
    number: int,
    text: str,
    *,
    origin: Origin = Origin.MODEL,
    intent: Intent = Intent.INFORMATIVE,
    checks: Sequence[Check] = CHECKS,
    note: str = "",
) -> None:
    """Deliver draft `number` of a case that waits for it."""
    empty = origin is Origin.NONE
    await ledger.stages.draft(
        make_draft(
            key, number, "" if empty else text, intent=intent, origin=origin,
            model="" if empty else "sample-model", checks=() if empty else checks, note=note, created_at=now(),
        )
    )  # fmt: skip


async def fill(ledger: Ledger) -> list[str]:
    """Bring six cases to the desk, the oldest first: plain, hostile, composed, two groups, no draft, long."""
    return [
        await add_pending(ledger, post(1)),
        await add_pending(
            ledger, post(2, HOSTILE), "Nobody ruins anything by being born on Zorblax. What would you ask a neighbour "
            "from there, if you met one?", group=TargetGroup.OTHER, evidence=(UDHR, UNSAFE_LINK),
        ),
        await add_pending(
            ledger, post(3, "Wheelchair users should stay at home, ramps cost too much."),
            "The Convention on the Rights of Persons with Disabilities asks States to make public places accessible. "
            "A ramp serves parents with prams and the old as well.",
            origin=Origin.COMPOSER, group=TargetGroup.DISABLED, evidence=(SHORTENED, UDHR),
        ),
        await add_pending(
            ledger, post(4, "Women can't lead a team, everybody knows that."),
            "Women have the same right as men to take part in public life and to lead. Who leads well is seen in the "
            "work, not in the gender.", group=TargetGroup.WOMEN,
        ),
        await add_pending(
            ledger, post(5, "Zorblaxians eat all our biscuits."), origin=Origin.NONE, group=TargetGroup.OTHER,
            evidence=(UDHR,), note="No statement fits this post closely; write the reply yourself, or reject the case.",
        ),
        await add_pending(ledger, post(6, "They come here and take our jobs. " * 20)),
    ]  # fmt: skip
