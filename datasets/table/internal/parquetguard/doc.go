// Package parquetguard reads Parquet files with github.com/parquet-go/parquet-go, and checks a file's claims before the
// library relies on them. [Open] opens a file, [File.Column] a column of it, and [Column.Next] returns its values.
//
// The library allocates what a file claims, before it reads the bytes that would have to be there: the elements of a
// list in the footer, the values of a page, the length of a run of equal values. A file of a few bytes can claim
// hundreds of gigabytes. The system ends a program that allocates so much, and no recover can prevent it. So this
// package first reads everything that determines the library's allocations:
//
//   - The footer and the headers of pages, which are Thrift structs. It reads them element by element and allocates
//     nothing for them.
//   - Each page. It unpacks at most as many bytes as the page's header claims, and a header may claim at most as many
//     as the whole file may unpack to.
//   - The runs in each page. It counts their values.
//
// And no row of a damaged file may be lost without an error. The numbers of rows in the footer, in the row groups, in
// the column chunks and in the headers of pages must agree, and a column must end where its row group does. Panics of
// the library become errors.
//
// An error is an [*Error], whose text quotes nothing from the file; [ErrUnpacked]; or an error of reading or unpacking,
// whose text may quote the file.
package parquetguard
