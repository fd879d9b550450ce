"""Reports: what ``--json`` writes, as objects."""

import json
from collections.abc import Mapping

from . import _html


class Part(Mapping):
    """A part of a report; what it has are attributes, and items by the same name."""

    def __init__(self, fields):
        self._fields = {name: _part(value) for name, value in fields.items()}

    def __getattr__(self, name):
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        known = ", ".join(fields)
        raise AttributeError(f"the report has no {name!r} here; it has {known}")

    def __getitem__(self, name):
        return self._fields[name]

    def __iter__(self):
        return iter(self._fields)

    def __len__(self):
        return len(self._fields)

    def __dir__(self):
        return [*super().__dir__(), *self._fields]

    def __repr__(self):
        inside = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"({inside})"

    def to_dict(self):
        """The same as plain dictionaries and lists."""
        return {name: _plain(value) for name, value in self._fields.items()}


def _part(value):
    if isinstance(value, dict):
        return Part(value)
    if isinstance(value, list):
        return [_part(one) for one in value]
    return value


def _plain(value):
    if isinstance(value, Part):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


class Report(Part):
    """What a command found and did.

    Its attributes are the fields of the JSON report. Beside them stand ``outcome``, what
    was done in a sentence; ``exit_code``, what the command would return; ``output``, what
    was written, if anything was.
    """

    def __init__(self, text, outcome="", exit_code=0, output=None):
        super().__init__(json.loads(text))
        self.outcome = outcome
        self.exit_code = exit_code
        self.output = output

    def __repr__(self):
        return _html.text(self)

    def _repr_html_(self):
        return _html.page(self)

    def __reduce__(self):
        return Report, (json.dumps(self.to_dict()), self.outcome, self.exit_code, self.output)


class Comparison(Report):
    """Methods side by side; ``methods`` has a part for each."""

    def __repr__(self):
        return _html.methods_text(self)

    def _repr_html_(self):
        return _html.methods_page(self)

    def __reduce__(self):
        return Comparison, super().__reduce__()[1]
