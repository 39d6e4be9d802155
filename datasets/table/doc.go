// Package table reads people's own data, CSV, Parquet and NPZ, as samples to train on and to predict.
//
// A file is a sequence of rows, and a row is one sample: one unit of privacy. A CSV or Parquet file has one value for each
// row and column. In an NPZ file an array is a column, its first axis counts the rows, and what a row has of it may have a
// shape, as images do. One column is the label. The others, but for those to be ignored, become the sample's values, in the
// order of the file.
//
// [Open] opens a file, which [Infer], [Describe], [Schema.Count] and [Schema.Read] then go through by one descriptor: a
// file that is replaced meanwhile is read as it was, and one that is written to is an error.
//
// # Public, and private
//
// Nothing here is computed from private rows. A [Schema] says how rows become samples; [Infer] makes it from settings and
// from the test file, which is public: the names and shapes of columns, the task, the classes. [Schema.Read] then takes any
// file by it, and a class or a category that isn't in the schema is an error, which names the row. A list of classes read
// off the training rows would tell, in a released model, that somebody is of a class. The same holds for means and ranges:
// values are shifted, scaled and clipped by constants that a person gives and that have to be public. [Describe] suggests
// some; it must be given public files only.
//
// The number of rows is public by the definition of the guarantee, and [Schema.Count] reads it off a file without
// reading values. Errors go to logs that others read, and so the text of an [Error] names file, row and column and
// never cites what the file has there: neither a cell nor a name of a column that the schema doesn't know.
// [Error.Private] does. Only errors of [Infer] and [Describe], whose files are public, cite in their text.
//
// # From cells to values
//
//	number        clipped to [low, high], then (x − shift)/scale, then float32, which must be finite
//	category      one-hot in the order of the schema's list; "*" in a list stands for all that the others don't name, ""
//	              for a missing one
//	class         its number in the schema's list; the numbers 1 and 1.0 are one class
//
// Cells lose the blanks around them. Numbers are decimal. NaN, infinities and missing cells are errors: what a row lacks has
// to be filled in by a rule that looks at that row alone.
//
// The label is a class or, to regress on, a number. Where settings don't say which, the public test file decides: a number
// if every label is one and some aren't whole or there are more than [MostClasses] different ones, else a class. Classes
// are listed in the order of numbers, or of text.
//
// # Formats
//
// CSV is read by encoding/csv: comma-separated with a header line in UTF-8, with or without a byte order mark;
// separated by semicolons if the header has these and no comma; by tabs in a .tsv file; any of them may be compressed
// (.gz). Parquet is read by github.com/parquet-go/parquet-go, flat schemas of numbers, booleans and text alone;
// whatever it panics with on a damaged file becomes an error. NPZ is an archive/zip of NPY arrays of numbers,
// booleans or text, whose reader is our own (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
// github.com/sbinet/npyio allocates as many values as a header claims, before it has read any.
//
// A file that was damaged must not lose rows in silence, as the guarantee is for the rows that are there. In Parquet
// the numbers of rows in the footer, in the groups of rows, in the columns of each and in their pages must agree, and
// after a group's last row each column must be at its end; in NPZ arrays end where their shapes say.
//
// # Memory
//
// A claim in a header is no reason to allocate memory. A packed file may unpack to 256 MiB or 200 times its size,
// whichever is more: bytes count in a compressed CSV file; in NPZ, arrays by their headers, which also can't claim
// more than their packed bytes could hold; in Parquet, pages by their headers. Pages of Parquet are unpacked, and the
// runs of equal values in them counted, before the library allocates either. CSV that isn't compressed isn't limited.
// Categories take memory only after they were read, one value for each in the list: before values are allocated they
// are compared with the memory that the machine has left.
package table
