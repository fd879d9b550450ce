"""Tables as data frames of pandas.

Columns grow in place while batches come, and each batch goes as soon as it is copied. So
memory holds little more than the frame, where a table of Arrow beside it would double that.
"""

# Rows that columns have room for at first. They grow by an eighth: where they are large the
# system moves no bytes for that, but what is added is filled with zeros.
ROOM = 1 << 20


class Column:
    """A column that grows."""

    def __init__(self, numpy, arrow, field):
        self._numpy, self.name = numpy, field.name
        self._is_named = arrow.types.is_dictionary(field.type)
        kind = field.type.index_type if self._is_named else field.type
        self._values = numpy.empty(ROOM, dtype=kind.to_pandas_dtype())
        # Numbers with a fraction say themselves where there are none.
        is_whole = arrow.types.is_integer(field.type)
        self._missing = numpy.zeros(ROOM, dtype=bool) if is_whole and field.nullable else None
        self._names = None
        self._rows = 0

    def add(self, values):
        """Appends an array of Arrow."""
        end = self._rows + len(values)
        if end > len(self._values):
            self._resize(max(end, len(self._values) * 9 // 8))
        if self._is_named:
            # A dictionary only grows, so the last one has all names.
            self._names, values = values.dictionary, values.indices.fill_null(-1)
        elif self._missing is not None:
            self._missing[self._rows : end] = values.is_null().to_numpy(zero_copy_only=False)
            values = values.fill_null(0)
        self._values[self._rows : end] = values.to_numpy(zero_copy_only=False)
        self._rows = end

    def _resize(self, room):
        # Nobody else has seen these.
        self._values.resize(room, refcheck=False)
        if self._missing is not None:
            self._missing.resize(room, refcheck=False)

    def done(self, pandas):
        """As pandas has it."""
        self._resize(self._rows)
        values, self._values = self._values, None
        if self._is_named:
            names = [] if self._names is None else self._names.to_pylist()
            return pandas.Categorical.from_codes(values, names)
        if self._missing is not None:
            return pandas.arrays.IntegerArray(values, self._missing)
        return values


def frame(numpy, pandas, pyarrow, reader):
    """What a reader of batches gives."""
    columns = [Column(numpy, pyarrow, field) for field in reader.schema]
    for batch in reader:
        for column, values in zip(columns, batch.columns):
            column.add(values)
        del batch, values
    return pandas.DataFrame({it.name: it.done(pandas) for it in columns}, copy=False)
