"""Tables: whatever knows Arrow's stream interface takes them as they are."""

from . import _retime

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

    ``pyarrow.table(table)``, ``polars.from_arrow(table)``, DuckDB and all else that knows
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

    def to_pandas(self, **options):
        """A ``pandas.DataFrame``; names become categories. Takes pandas and pyarrow.

        ``options`` are those of ``pyarrow.Table.to_pandas``.
        """
        _needed("pandas", "to_pandas()")
        _needed("pyarrow", "to_pandas()")
        # Each column of the Arrow table goes as soon as pandas has its own, so that
        # memory holds little more than one of the two.
        options = {"split_blocks": True, "self_destruct": True, **options}
        return self.to_pyarrow().to_pandas(**options)

    def to_polars(self):
        """A ``polars.DataFrame``."""
        polars = _needed("polars", "to_polars()")
        return self._whole(lambda: polars.DataFrame(self))

    def to_parquet(self, path, **options):
        """Writes a Parquet file, a million rows at a time, in bounded memory.

        ``options`` are those of ``pyarrow.parquet.ParquetWriter``.
        """
        parquet = _needed("pyarrow.parquet", "to_parquet()")
        pyarrow = _needed("pyarrow", "to_parquet()")

        def write():
            reader = self.reader()
            with parquet.ParquetWriter(path, reader.schema, **options) as writer:
                batches, rows = [], 0
                for batch in reader:
                    batches.append(batch)
                    rows += batch.num_rows
                    if rows >= ROW_GROUP:
                        writer.write_table(pyarrow.Table.from_batches(batches, reader.schema), ROW_GROUP)
                        batches, rows = [], 0
                if batches:
                    writer.write_table(pyarrow.Table.from_batches(batches, reader.schema), ROW_GROUP)

        self._whole(write)

    def to_pipit(self):
        """A ``pandas.DataFrame`` with the columns of Pipit, sorted by time.

        ``Timestamp (ns)`` is counted from the first event; corrected where the table has
        corrected times. ``Process`` and ``Thread`` are numbers. Of tables of events only.
        """
        if self._pipit is None:
            raise TypeError("to_pipit() is for tables of events")
        return self._pipit()

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
    stamps = events[time].to_numpy()
    since = stamps - (stamps.min() if len(stamps) else 0)
    factor = 1_000_000_000 / view.ticks_per_second
    threads, seen = {}, {}
    for place in view.locations:
        number = seen.get(place.process_number, 0)
        threads[place.id] = (place.process_number, number)
        seen[place.process_number] = number + 1
    ids = pandas.Categorical(events["location"], categories=list(threads))
    ends = numpy.array(list(threads.values()), dtype=numpy.int64).reshape(-1, 2)[ids.codes]
    kinds = {"enter": "Enter", "leave": "Leave"}
    passage = events["passage"].astype(object).map(kinds).fillna("Instant")
    # Of an instant the kind is its name.
    name = events["region"].astype(object).where(passage != "Instant", events["kind"].astype(object))
    frame = pandas.DataFrame(
        {
            "Timestamp (ns)": since if factor == 1 else since * factor,
            "Event Type": pandas.Categorical(passage, categories=["Enter", "Leave", "Instant"]),
            "Name": pandas.Categorical(name),
            "Thread": ends[:, 1],
            "Process": ends[:, 0],
        }
    )
    return frame.sort_values("Timestamp (ns)", kind="stable", ignore_index=True)
