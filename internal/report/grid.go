package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Form is how a table of answers is written.
type Form string

// The forms.
const (
	FormText     Form = "text"
	FormMarkdown Form = "markdown"
	FormCSV      Form = "csv"
	FormJSON     Form = "json"
)

// Forms lists them for the command line.
func Forms() []string {
	return []string{string(FormText), string(FormMarkdown), string(FormCSV), string(FormJSON)}
}

// Grid is a table: a head and rows of as many cells. Cells are shown as they are: what comes from outside is escaped by who puts
// it in.
type Grid struct {
	Head []string
	Rows [][]string
}

// Write writes the table as aligned text, Markdown or CSV. CSV cells that a spreadsheet would run as a formula get an apostrophe.
func (g *Grid) Write(w io.Writer, form Form) error {
	switch form {
	case FormMarkdown:
		return g.markdown(w)
	case FormCSV:
		c := csv.NewWriter(w)
		for _, row := range append([][]string{g.Head}, g.Rows...) {
			cells := make([]string, len(row))
			for i, cell := range row {
				if cell != "" && strings.ContainsRune("=+@", rune(cell[0])) {
					cell = "'" + cell
				}
				cells[i] = cell
			}
			if err := c.Write(cells); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	}
	return g.text(w)
}

func (g *Grid) widths() []int {
	widths := make([]int, len(g.Head))
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// text aligns the first column to the left and the others to the right.
func (g *Grid) text(w io.Writer) error {
	widths := g.widths()
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		var b strings.Builder
		for i, cell := range row {
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0:
				b.WriteString("  " + cell + fill)
			default:
				b.WriteString("  " + fill + cell)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

func (g *Grid) markdown(w io.Writer) error {
	line := func(cells []string) error {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		_, err := fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
		return err
	}
	if err := line(g.Head); err != nil {
		return err
	}
	rule := "|---|" + strings.Repeat("---:|", max(0, len(g.Head)-1))
	if _, err := fmt.Fprintln(w, rule); err != nil {
		return err
	}
	for _, row := range g.Rows {
		if err := line(row); err != nil {
			return err
		}
	}
	return nil
}
