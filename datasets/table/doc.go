// Package table reads CSV, Parquet and NPZ files as samples to train on and to predict. [Open] opens a file, [Infer]
// makes a [Schema] from settings and the public test file, and [Schema.Read] reads any file by it. All passes through
// a [File] use one descriptor: a file that is replaced meanwhile is read as it was, and one that is written to is an
// error.
//
// A file is a sequence of rows, and a row is one sample: one unit of privacy. A CSV or Parquet file has one value for
// each row and column. In an NPZ file each array is a column whose first axis counts the rows; the other axes are the
// shape of its values, as of images. One column is the label. The others, except for ignored ones, become the
// sample's values, in the order of the file.
//
// # Public, and private
//
// Nothing here is computed from private rows. A [Schema] is made of settings and of the test file, which is public:
// it has the names and shapes of the columns, the task and the classes. In every other file, a class or a category
// that the schema lacks is an error. A list of classes read off the training rows would be released with the model
// and reveal that a row has each of them. The same holds for means and ranges: values are shifted, scaled and clipped
// by constants that a person gives and that must be public. [Describe] suggests some; give it public files only.
//
// The number of rows is public by the definition of the guarantee, and [Schema.Count] counts them without reading
// their values. Errors go to logs that others read. So the text of an [Error] names file, row and column, and cites
// nothing that the file holds there: neither cells nor names of columns that the schema lacks. [Error.Private] does.
// Only [Infer] and [Describe], whose files are public, cite in the text.
//
// # From cells to values
//
//	number        clipped to [low, high], then (x − shift)/scale, then float32, which must be finite
//	category      one-hot in the order of the schema's list; "*" in a list stands for all unlisted ones, "" for a
//	              missing one
//	class         its index in the schema's list; the numbers 1 and 1.0 are one class
//
// Blanks around a cell are dropped. Numbers are decimal. NaN, infinities and missing cells are errors: a missing
// value has to be filled in by a rule that uses its own row alone.
//
// The label is a class or, in a regression, a number. Without a setting the public test file decides: the label is a
// number if all labels are numbers and either some have a fraction or more than [MaxClasses] are different. Classes
// are sorted, by number if all of them are numbers, else as text.
//
// # Formats
//
// encoding/csv reads CSV in UTF-8, with or without a byte order mark, with a header line. Commas separate cells, or
// semicolons if the header has those and no comma, or tabs in a .tsv file. Any of them may be compressed (.gz).
// github.com/parquet-go/parquet-go, behind a guard of ours, reads Parquet files whose columns are numbers, booleans or
// text, without nesting. NPZ is an archive/zip of NPY arrays of numbers, booleans or text; our own reader of NPY
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html) replaces github.com/sbinet/npyio, which
// allocates as many values as a header claims before it reads any.
//
// A damaged file must not lose rows in silence, since the guarantee covers the rows that are there. So the numbers of
// rows that a Parquet file states in several places must agree, and the arrays of an NPZ file must end where their
// shapes do.
//
// # Memory
//
// No memory is allocated because a header claims that it is needed. A packed file may unpack to 256 MiB or to 200
// times its size, whichever is more. That counts the bytes of a compressed CSV file; the arrays of an NPZ file by
// their headers, which can't claim more than their packed bytes could hold; and the pages of a Parquet file by their
// headers. Uncompressed CSV isn't limited. One-hot categories take memory only after their cells were read; the
// memory for values is compared with the machine's free memory before it is allocated.
package table
