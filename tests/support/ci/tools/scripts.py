"""Writes the scripts of workflows into files, for shellcheck.

Usage: scripts.py DIRECTORY FILE..."""

import pathlib
import re
import sys

from ruamel.yaml import YAML


def scripts(workflow):
    """Each with its shell: GitHub is told to use bash, GitLab takes what the image has."""
    steps = list(workflow.get("runs", {}).get("steps", []))
    for job in workflow.get("jobs", {}).values():
        steps += job["steps"]
    for step in steps:
        if "run" in step:
            # As actionlint does it: an expression is some word.
            yield "bash", re.sub(r"\$\{\{.*?\}\}", lambda found: "_" * len(found[0]), step["run"])
    if not steps:
        for job in workflow.values():
            for part in ("script", "after_script"):
                if isinstance(job, dict) and part in job:
                    yield "sh", "\n".join(job[part])


directory = pathlib.Path(sys.argv[1])
for file in map(pathlib.Path, sys.argv[2:]):
    found = list(scripts(YAML(typ="safe").load(file)))
    assert found, f"{file} has no scripts"
    for number, (shell, text) in enumerate(found):
        (directory / f"{file.stem}-{number}.{shell}").write_text(f"#!/bin/{shell}\n{text}\n")
