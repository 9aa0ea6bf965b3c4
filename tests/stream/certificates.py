"""Certificates for one test, made by the `openssl` program: an authority, a broker's and a client's."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "a password for tests"


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, both as PEM files."""

    file: Path
    key: Path


class Authority:
    """A self-signed authority in a folder; skips the test if there is no `openssl`."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("openssl is not installed, so no certificate can be made")
        folder.mkdir()
        self._folder = folder
        self.own = Certificate(folder / "ca.pem", folder / "ca.key")
        self._run(
            "req", "-x509", *self._new_key(self.own.key), "-out", self.own.file, "-subj", "/CN=Zorblax", "-days", "2"
        )

    def issue(self, name: str, *, password: str = "") -> Certificate:
        """Issue a certificate for loopback, valid for servers and clients; a `password` encrypts its key."""
        issued = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        self._run("req", *self._new_key(issued.key), "-out", request, "-subj", f"/CN={name}")
        self._run(
            "x509", "-req", "-in", request, "-CA", self.own.file, "-CAkey", self.own.key, "-CAcreateserial",
            "-out", issued.file, "-days", "2", "-extfile", extensions,
        )  # fmt: skip
        if password:
            self._run("ec", "-in", issued.key, "-out", issued.key, "-aes256", "-passout", f"pass:{password}")
        return issued

    @staticmethod
    def _new_key(file: Path) -> tuple[str | Path, ...]:
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file

    @staticmethod
    def _run(*arguments: str | Path) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
