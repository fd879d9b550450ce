"""Tables: whatever knows Arrow's stream interface takes them as they are."""

from . import _files, _pandas

# Rows of a row group of a Parquet file.
ROW_GROUP = 1 << 20


def _needed(module, why):
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        raise ImportError(f"{why} takes {name}: pip install {name}") from error


class Table:
    """A table of a trace; it holds no rows, and makes them anew whenever they are read.

    ``pyarrow.table(table)``, ``polars.DataFrame(table)``, DuckDB and all else that knows
    ``__arrow_c_stream__`` take it.
    """

    def __init__(self, table, pipit=None):
        self._table = table
        self._pipit = pipit

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return self._table.__arrow_c_schema__()

    @property
    def column_names(self):
        """The names of its columns."""
        return self._table.column_names

    def __repr__(self):
        return f"<retime table of {', '.join(self.column_names)}>"

    def reader(self):
        """A ``pyarrow.RecordBatchReader``: some rows at a time, in bounded memory."""
        pyarrow = _needed("pyarrow", "reading a table batch by batch")
        return pyarrow.RecordBatchReader.from_stream(self)

    def to_pyarrow(self):
        """A ``pyarrow.Table``."""
        reader = _needed("pyarrow", "to_pyarrow()") and self.reader()
        return self._whole(reader.read_all)

    def to_pandas(self):
        """A ``pandas.DataFrame``. Takes pandas and pyarrow.

        Names become categories; whole numbers that may be missing are ``Int64``.
        """
        pandas = _needed("pandas", "to_pandas()")
        pyarrow = _needed("pyarrow", "to_pandas()")
        numpy = _needed("numpy", "to_pandas()")
        return self._whole(lambda: _pandas.frame(numpy, pandas, pyarrow, self.reader()))

    def to_polars(self):
        """A ``polars.DataFrame``."""
        polars = _needed("polars", "to_polars()")
        return self._whole(lambda: polars.DataFrame(self))

    def to_parquet(self, path, **options):
        """Writes a Parquet file, a million rows at a time, in bounded memory.

        ``options`` are those of ``pyarrow.parquet.ParquetWriter``. The file appears when it
        is complete, and takes the place of one that was there; where writing fails or is
        interrupted all stays as it was. What is no file of this machine (an open file, a
        pipe, a place in a ``filesystem`` of pyarrow) is written as rows come.
        """
        parquet = _needed("pyarrow.parquet", "to_parquet()")
        schema = _needed("pyarrow", "to_parquet()").schema(self)

        def write(to):
            with parquet.ParquetWriter(to, schema, **options) as writer:
                for group in self._groups():
                    writer.write_table(group, ROW_GROUP)

        if options.get("filesystem") is None and _files.is_place(path):
            self._whole(lambda: _files.whole(path, write))
        else:
            self._whole(lambda: write(path))

    def to_pipit(self):
        """A ``pandas.DataFrame`` with the columns of Pipit, sorted by time.

        ``Timestamp (ns)`` is counted from the first event; corrected where the table has
        corrected times. ``Process`` and ``Thread`` are numbers. Of tables of events only.
        """
        if self._pipit is None:
            raise TypeError("to_pipit() is for tables of events")
        return self._pipit()

    def _groups(self):
        """Tables of pyarrow with about a million rows each; at least one."""
        pyarrow = _needed("pyarrow", "reading a table")
        reader = self.reader()
        batches, rows = [], 0
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            if rows >= ROW_GROUP:
                yield pyarrow.Table.from_batches(batches, reader.schema)
                batches, rows = [], 0
        yield pyarrow.Table.from_batches(batches, reader.schema)

    def _whole(self, read):
        """Reads it all; what went wrong on the way is an exception of retime."""
        try:
            return read()
        except BaseException as error:
            try:
                self._table.raise_failure()
            except _retime_errors() as failure:
                raise failure from error
            raise


def _retime_errors():
    from ._errors import Error

    return Error


def pipit(view):
    """The events of a view with the columns of Pipit."""
    numpy = _needed("numpy", "to_pipit()")
    pandas = _needed("pandas", "to_pipit()")
    time = "corrected" if view._is_corrected else "time"
    events = Table(view._events(["location", time, "kind", "region", "passage"])).to_pandas()
    stamps = events.pop(time).to_numpy()
    order = numpy.argsort(stamps, kind="stable")
    stamps = stamps[order]
    stamps = stamps - stamps[0] if len(stamps) else stamps
    if view.ticks_per_second != 1_000_000_000:
        stamps = stamps * (1_000_000_000 / view.ticks_per_second)
    # Enter and leave have numbers 0 and 1 already; all else is an instant.
    passage = events.pop("passage").cat.codes.to_numpy()[order]
    is_instant = passage < 0
    name, names = _names(events.pop("region"), events.pop("kind"), order, is_instant)
    process, thread = _numbers(view.locations, events.pop("location").to_numpy()[order])
    kinds = ["Enter", "Leave", "Instant"]
    codes = numpy.where(is_instant, passage.dtype.type(2), passage)
    return pandas.DataFrame(
        {
            "Timestamp (ns)": stamps,
            "Event Type": pandas.Categorical.from_codes(codes, kinds),
            "Name": pandas.Categorical.from_codes(name, names),
            "Thread": thread,
            "Process": process,
        },
        copy=False,
    )


def _names(region, kind, order, is_instant):
    """Numbers of names and the names: of a call its region, of an instant its kind."""
    import numpy

    names = list(region.cat.categories)
    place = {name: number for number, name in enumerate(names)}
    for one in kind.cat.categories:
        if place.setdefault(one, len(names)) == len(names):
            names.append(one)
    kinds = numpy.array([place[one] for one in kind.cat.categories], dtype=numpy.int32)
    instants = kinds[kind.cat.codes.to_numpy()[order]] if len(kinds) else order.astype(numpy.int32)
    return numpy.where(is_instant, instants, region.cat.codes.to_numpy()[order]), names


def _numbers(locations, ids):
    """The numbers of the process, and of the thread in it, for each id of a location."""
    import numpy

    seen, numbers = {}, {}
    for place in locations:
        thread = seen.get(place.process_number, 0)
        seen[place.process_number] = thread + 1
        numbers[place.id] = (place.process_number, thread)
    # As the ids that are looked for, since numbers of other kinds are compared as fractions.
    known = numpy.array(sorted(numbers), dtype=ids.dtype)
    ends = numpy.array([numbers[int(it)] for it in known], dtype=numpy.int32).reshape(-1, 2)
    at = numpy.searchsorted(known, ids)
    return ends[at, 0], ends[at, 1]
