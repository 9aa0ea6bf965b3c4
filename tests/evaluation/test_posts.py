"""Reading posts: the shipped ones, and files as people really send them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import BadInput
from evaluation.posts.reading import read_posts
from evaluation.posts.shipped import LANGUAGES, shipped_posts, spread


def test_thirty_posts_in_each_of_four_languages_with_references() -> None:
    posts = shipped_posts()
    assert Counter(post.language for post in posts) == dict.fromkeys(LANGUAGES, 30)
    assert all(len(post.references) == 2 for post in posts)
    for language in LANGUAGES:
        assert {group for post in posts if post.language == language for group in post.groups} == set(TargetGroup)
    assert len({post.id for post in posts}) == len({post.text for post in posts}) == 120


def test_a_few_of_them_are_spread_over_languages_and_groups() -> None:
    chosen = spread(shipped_posts(), 8)
    assert Counter(post.language for post in chosen) == dict.fromkeys(LANGUAGES, 2)
    assert len(spread(shipped_posts(), 1_000)) == 120


def test_lines_that_are_no_posts_are_kept_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    lines = ['{"text": "One."}', "{", "[]", '{"id": "x", "text": "  "}', '{"id": "1", "text": "Again."}', '{"id": 3}',
             '{"text": "Two.", "language": "english"}', "", '{"id": "last", "text": "Last."}']  # fmt: skip
    file.write_text("\n".join(lines))
    read = read_posts(file)
    assert [post.text for post in read.posts] == ["One.", "Last."]
    assert [line.line for line in read.rejected] == [2, 3, 4, 5, 6, 7]
    assert all(line.reason and line.content for line in read.rejected)


def test_a_csv_without_the_column_says_which_it_has(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_text("post,reply\nOne.,Two.\n")
    with pytest.raises(BadInput, match=r"no column text \(its columns: post, reply\)"):
        read_posts(file)


def test_a_csv_in_mixed_encodings_is_read_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_bytes(
        b"\xef\xbb\xbftext,groups,reference,reference_2\r\n"
        + "Señores,women lgbt,“No”,Sí\r\n".encode()
        + "Señoras,,Más,\r\n".encode("cp1252")
        + b'"two\nlines",dragons,,\r\n'
    )
    read = read_posts(file)
    assert [post.text for post in read.posts] == ["Señores", "Señoras"]
    assert read.posts[0].references == ("“No”", "Sí")
    assert read.posts[0].groups == (TargetGroup.WOMEN, TargetGroup.LGBT)
    assert read.reencoded == 1
    assert "groups" in read.rejected[0].reason


def test_a_hundred_thousand_rows(tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_text("".join(json.dumps({"text": f"Post {number}."}) + "\n" for number in range(100_000)))
    assert len(read_posts(file).posts) == 100_000


@pytest.mark.parametrize(("name", "content"), [("posts.xlsx", "PK"), ("posts.jsonl", ""), ("posts.csv", "text\n")])
def test_a_file_of_another_kind_or_without_posts_is_refused(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(BadInput, match=name):
        read_posts(file)
