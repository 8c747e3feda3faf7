# SPDX-License-Identifier: Apache-2.0
"""JSON documents of duress: do they fit the schema, and where do two of them differ?"""
import functools
import json
import pathlib

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "duress-1.schema.json"


@functools.lru_cache(maxsize=1)
def _validator():
    import jsonschema  # a tenth of a second to import: only by tests that read documents

    schema = json.loads(SCHEMA.read_text())
    return jsonschema.validators.validator_for(schema)(schema)


def valid(document):
    """The document; an exception that says where, if it does not fit the schema."""
    _validator().validate(document)
    return document


def without_times(document):
    """What must not depend on the machine or on -j: all but times."""
    return {key: value for key, value in document.items() if key != "seconds"}


def differences(a, b, path=""):
    """The places where two documents differ."""
    if a == b:
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in sorted({*a, *b}) for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [f"{path}: {str(a)[:200]} / {str(b)[:200]}"]
