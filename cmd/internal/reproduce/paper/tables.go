package paper

// Table is a table of texts, for the page, and of numbers, for a CSV file.
type Table struct {
	Name    string // of the file
	Title   string
	Columns []string
	Texts   int        // how many columns, the first ones, aren't numbers
	Rows    [][]string // each as long as Columns; without them the table isn't on the page
	Note    string     // below the table
	Numbers [][]string // all digits, below a row of column names
}
