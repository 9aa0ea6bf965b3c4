"""The table of a case's life agrees with itself and with what the documents draw."""

from __future__ import annotations

import re
from pathlib import Path

from core.domain import CaseState, Route
from core.lifecycle import ROUTES, STAGES, TRANSITIONS, UNFINISHED, StageName, TopicRole, fails_in

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"


def test_the_documents_draw_every_transition_and_no_other() -> None:
    [diagram] = re.findall(r"stateDiagram-v2\n(.*?)```", ARCHITECTURE.read_text(), re.DOTALL)
    arrows = re.findall(r"(\S+) --> (\w+)", diagram)
    drawn = {(None if state == "[*]" else CaseState(state), CaseState(to)) for state, to in arrows}
    assert drawn == {(state, to) for state, to in TRANSITIONS if state is not to}


def test_every_stage_and_every_route_has_its_row() -> None:
    assert set(STAGES) == set(StageName)
    assert set(ROUTES) == set(Route)
    assert UNFINISHED == (CaseState.RECEIVED, CaseState.TRIAGED, CaseState.GROUNDED)


def test_each_stage_reads_what_the_one_before_writes() -> None:
    specs = list(STAGES.values())
    assert [spec.reads for spec in specs[1:]] == [spec.writes for spec in specs[:-1]]
    assert specs[0].reads is TopicRole.FLAGS and specs[-1].writes is None


def test_a_stage_fails_no_case_that_is_further_on_than_its_own() -> None:
    assert fails_in(StageName.TRIAGE) == (CaseState.RECEIVED,)
    assert fails_in(StageName.DESK) == UNFINISHED
