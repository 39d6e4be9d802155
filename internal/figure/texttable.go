package figure

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/accountant"
)

// TextTable is a table of texts, which are in the markup of labels: *asterisks* mean italics, ^carets^ a superscript.
type TextTable struct {
	Title   string
	Columns []string
	Rows    [][]string // each as long as Columns
	Notes   []string   // sentences below the table

	// Numbers are for the CSV file: a row of column names, and below it rows with all digits. Without them the file has
	// the texts of the table, without their markup.
	Numbers [][]string
}

// Validate returns an error that wraps [accountant.ErrInvalid] if a row isn't as long as the row of column names.
func (t TextTable) Validate() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("%w figure: table %q has no columns", accountant.ErrInvalid, t.Title)
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("%w figure: table %q: row %d has %d cells and not %d", accountant.ErrInvalid, t.Title, i+1, len(row), len(t.Columns))
		}
	}
	return nil
}

// Table returns the numbers, or the texts without their markup.
func (t TextTable) Table() [][]string {
	if t.Numbers != nil {
		return t.Numbers
	}
	rows := [][]string{}
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		plain := make([]string, len(row))
		for i, cell := range row {
			plain[i] = Unmarked(cell)
		}
		rows = append(rows, plain)
	}
	return rows
}

// Unmarked returns a label without its markup: 10^-5 is a superscript's text.
func Unmarked(label string) string {
	parts := strings.Split(strings.ReplaceAll(label, "*", ""), "^")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "^" + strings.ReplaceAll(parts[i], "−", "-")
	}
	return strings.Join(parts, "")
}

// RightAligned reports for each column whether all its cells are numbers, which are set to the right.
func (t TextTable) RightAligned() []bool {
	right := make([]bool, len(t.Columns))
	for j := range t.Columns {
		numbers := 0
		right[j] = true
		for _, row := range t.Rows {
			if row[j] == "" {
				continue
			}
			numbers++
			if !strings.ContainsRune("0123456789−+", []rune(row[j])[0]) || strings.Count(row[j], " ") > 2 {
				right[j] = false
			}
		}
		right[j] = right[j] && numbers > 0
	}
	return right
}

func (t TextTable) drawing() drawing { return drawing{table: &textTable{t}} }
