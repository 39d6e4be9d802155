// Package parquetguard reads Parquet files with github.com/parquet-go/parquet-go and lets that library believe
// nothing that the file doesn't bear out. [Open] opens a file, [File.Column] a column of it, and [Column.Next]
// returns its values.
//
// The library allocates what a file claims, before it reads the bytes that would have to be there: the elements of a
// list in the footer, the values of a page, the length of a run of equal values. A file of a few bytes can claim
// hundreds of gigabytes, and a program that asks for them is ended, by no panic that could be recovered from. So this
// package reads everything first that makes the library allocate:
//
//   - The footer and the headers of pages, which are Thrift structs, element by element without building any.
//   - Each page, unpacked to no more than its header claims, which is no more than the file may unpack to at all.
//   - The runs in each page, whose values are counted.
//
// A damaged file must not lose rows in silence either. The numbers of rows in the footer, in the row groups, in the
// column chunks and in the headers of pages must agree, and a column must end where its row group does. Panics of the
// library become errors.
//
// Errors are an [*Error], whose text cites nothing that the file holds; [ErrUnpacked]; or an error of reading or
// unpacking, whose text may cite it.
package parquetguard
