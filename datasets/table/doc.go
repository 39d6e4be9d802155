// Package table reads CSV, Parquet and NPZ files as samples, for training and prediction. [Open] opens a file,
// [Infer] makes a [Schema] from settings and the public test file, or [SchemaOf] from settings alone, and
// [Schema.Read] reads any file by the schema. All passes through a [File] use one descriptor. If the file is
// replaced after Open, they read the original; if it is written to, they return an error.
//
// A file is a sequence of rows, and a row is one sample: one unit of privacy. A CSV or Parquet file has one value for
// each row and column. In an NPZ file each array is a column whose first axis counts the rows. Its other axes are the
// shape of one value, such as an image. One column is the label. The others, except for ignored ones, become the
// sample's values, in the order of the file.
//
// # Public, and private
//
// Nothing here is computed from private rows. A Schema is made from settings and from the test file, which is public.
// It holds the names and shapes of the columns, the task and the classes. In every other file, a class or a category
// that the schema lacks is an error. A list of classes collected from the training rows would be released with the
// model, and would reveal that some row has each class. The same holds for means and ranges, so values are shifted,
// scaled and clipped by constants that a person gives. These must be public. [File.Describe] suggests constants. Call
// it for public files only.
//
// The number of rows is public by the definition of the guarantee, and [Schema.Count] counts them without reading
// their values. Errors go to logs that others read. So the text of an [Error] names file, row and column, but
// quotes nothing from the file, such as a cell or the name of a column that the schema lacks. The quotation is in
// Error.Private. The errors of Infer and Describe, whose files are public, quote the file in their text.
//
// [File.Sketch] returns a fingerprint of a file's rows, by which a ledger recognises data that were used before. It is
// computed from private rows, and so it is private too.
//
// # From cells to values
//
//	number        clipped to [low, high], then (x − shift)/scale, then float32, which must be finite
//	              missing: the column's fill in its place, and a value behind it that is 1 if there is an indicator
//	category      one-hot in the order of the schema's list; "*" in a list stands for all unlisted ones, "" for a
//	              missing one
//	text          itself, without the blanks around it; a missing one is empty, and NA and its like are words
//	class         its index in the schema's list; the numbers 1 and 1.0 are one class
//
// Blanks around a cell are dropped. Numbers are decimal, and infinities are errors. A cell is missing if it is empty,
// null, NaN, or one of the texts NA, N/A, NaN, nan, null, NULL, None and ?. A missing number is an error unless the
// column's [Missing] gives its fill: a constant, since a mean of the rows would depend on private ones. If a category
// or a class with such a name is listed, the cell has that category or class. Otherwise a missing category is the
// category "" if that is listed. If it isn't, an empty cell is an error and a text such as NA belongs to "*". A missing
// label is an error.
//
// A first column without a name, as R's write.csv and pandas's to_csv write for row numbers, belongs to no schema.
// [Infer] and [File.Describe] return an error if its values are no row numbers or names.
//
// The label is a class or, in a regression, a number. Unless a setting says which, the public test file decides. The
// label is a number if all labels in it are numbers and, moreover, some have a fraction or there are more than
// [MaxClasses] different ones. Classes are sorted, by value if all of them are numbers, otherwise as text.
//
// # Formats
//
// encoding/csv reads CSV in UTF-8, with or without a byte order mark, with a header line. Commas separate cells. In a
// file whose header has semicolons and commas at most in names, semicolons do; in a .tsv file tabs do. Both kinds of
// files may be compressed (.csv.gz, .tsv.gz). github.com/parquet-go/parquet-go reads Parquet files whose columns are
// numbers, booleans or text, without nesting. NPZ is an archive/zip of NPY arrays of numbers, booleans or text; our own
// reader of NPY (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html) replaces
// github.com/sbinet/npyio, which allocates as many values as a header claims before it reads any.
//
// No row of a damaged file may be lost without an error, since the guarantee covers every row. So the numbers of
// rows that a Parquet file states in several places must agree, and each array of an NPZ file must have exactly the
// bytes of its shape.
//
// # Memory
//
// Damaged headers may claim any size, so the memory for their claims is limited: a row of a CSV file to 64 MiB, an
// array of an NPZ file to the size that the archive lists, and the pages of a Parquet file to 256 MiB or to 200 times
// the file's size, whichever is more. Damaged pages of a Parquet file without checksums may take more: parquet-go
// believes the lengths in them. Memory for one-hot categories is allocated only after their cells were read. The memory
// for all values is checked against the machine's free memory before it is allocated.
package table
