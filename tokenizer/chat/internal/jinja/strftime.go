package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats a time as C's strftime does in the C locale, with the "-" flag of glibc, which
// leaves leading zeros and blanks away. An unknown directive stays as it stands.
func (r *run) strftime(format string) (string, error) {
	if err := r.work(len(format)); err != nil {
		return "", err
	}
	var b strings.Builder
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			i = len(format)
		}
		if err := r.write(&b, format[:i]); err != nil {
			return "", err
		}
		if format = format[i:]; format == "" {
			break
		}
		n := 2 // bytes of the directive
		if len(format) > 2 && strings.IndexByte("-_0", format[1]) >= 0 {
			n = 3
		}
		s, ok := directive(r.now, format[n-1])
		if !ok {
			s = format[:n]
		} else if format[1] == '-' && n == 3 {
			if s = strings.TrimLeft(s, "0 "); s == "" {
				s = "0"
			}
		}
		if err := r.write(&b, s); err != nil {
			return "", err
		}
		format = format[n:]
	}
	return b.String(), nil
}

// directive writes one part of a time; ok is false for a letter that means none.
func directive(t time.Time, c byte) (s string, ok bool) {
	if l := layout(c); l != "" {
		return t.Format(l), true
	}
	width, n := timeNumber(t, c)
	switch {
	case width > 0:
		return fmt.Sprintf("%0*d", width, n), true
	case width < 0:
		return fmt.Sprintf("%*d", -width, n), true
	}
	switch c {
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'z', 'Z': // Python's datetime.now() has no zone
		return "", true
	case '%':
		return "%", true
	}
	return "", false
}

// layout gives the directives that Go's time package has a layout for.
func layout(c byte) string {
	switch c {
	case 'a':
		return "Mon"
	case 'A':
		return "Monday"
	case 'b', 'h':
		return "Jan"
	case 'B':
		return "January"
	case 'c':
		return "Mon Jan _2 15:04:05 2006"
	case 'D', 'x':
		return "01/02/06"
	case 'F':
		return "2006-01-02"
	case 'p':
		return "PM"
	case 'P':
		return "pm"
	case 'r':
		return "03:04:05 PM"
	case 'R':
		return "15:04"
	case 'T', 'X':
		return "15:04:05"
	}
	return ""
}

// timeNumber gives the directives that are numbers: their width with leading zeros, or, negative, with
// leading blanks; 0 is none.
func timeNumber(t time.Time, c byte) (width, n int) {
	sunday := int(t.Weekday()) // days since
	monday := (sunday + 6) % 7
	hour12 := (t.Hour()+11)%12 + 1
	switch c {
	case 'C':
		return 2, t.Year() / 100
	case 'd':
		return 2, t.Day()
	case 'e':
		return -2, t.Day()
	case 'f':
		return 6, t.Nanosecond() / 1000
	case 'G':
		year, _ := t.ISOWeek()
		return 1, year
	case 'H':
		return 2, t.Hour()
	case 'I':
		return 2, hour12
	case 'j':
		return 3, t.YearDay()
	case 'k':
		return -2, t.Hour()
	case 'l':
		return -2, hour12
	case 'm':
		return 2, int(t.Month())
	case 'M':
		return 2, t.Minute()
	case 's':
		return 1, int(t.Unix())
	case 'S':
		return 2, t.Second()
	case 'u':
		return 1, monday + 1
	case 'U':
		return 2, (t.YearDay() + 6 - sunday) / 7
	case 'V':
		_, week := t.ISOWeek()
		return 2, week
	case 'w':
		return 1, sunday
	case 'W':
		return 2, (t.YearDay() + 6 - monday) / 7
	case 'y':
		return 2, t.Year() % 100
	case 'Y':
		return 1, t.Year()
	}
	return 0, 0
}
