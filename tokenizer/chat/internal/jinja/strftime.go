package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats a time as C's strftime does in the C locale, with the "-" flag of glibc, which
// leaves leading zeros and blanks away. An unknown directive stays as it stands.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		flag := byte(0)
		if (format[i] == '-' || format[i] == '_' || format[i] == '0') && i+1 < len(format) {
			flag = format[i]
			i++
		}
		s, ok := directive(t, format[i])
		switch {
		case !ok:
			s = "%" + strings.Trim(string(flag), "\x00") + string(format[i])
		case flag == '-':
			if trimmed := strings.TrimLeft(s, "0 "); trimmed != "" {
				s = trimmed
			} else {
				s = "0"
			}
		}
		b.WriteString(s)
	}
	return b.String()
}

func directive(t time.Time, c byte) (string, bool) {
	num := func(format string, n int) (string, bool) { return fmt.Sprintf(format, n), true }
	layout := func(l string) (string, bool) { return t.Format(l), true }
	hour12 := (t.Hour()+11)%12 + 1
	year, week := t.ISOWeek()
	switch c {
	case 'a', 'A':
		return layout(map[byte]string{'a': "Mon", 'A': "Monday"}[c])
	case 'b', 'h':
		return layout("Jan")
	case 'B':
		return layout("January")
	case 'c':
		return layout("Mon Jan _2 15:04:05 2006")
	case 'C':
		return num("%02d", t.Year()/100)
	case 'd':
		return num("%02d", t.Day())
	case 'D', 'x':
		return layout("01/02/06")
	case 'e':
		return num("%2d", t.Day())
	case 'f':
		return num("%06d", t.Nanosecond()/1000)
	case 'F':
		return layout("2006-01-02")
	case 'G':
		return num("%d", year)
	case 'H':
		return num("%02d", t.Hour())
	case 'I':
		return num("%02d", hour12)
	case 'j':
		return num("%03d", t.YearDay())
	case 'k':
		return num("%2d", t.Hour())
	case 'l':
		return num("%2d", hour12)
	case 'm':
		return num("%02d", int(t.Month()))
	case 'M':
		return num("%02d", t.Minute())
	case 'n':
		return "\n", true
	case 'p':
		return layout("PM")
	case 'P':
		return layout("pm")
	case 'r':
		return layout("03:04:05 PM")
	case 'R':
		return layout("15:04")
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'S':
		return num("%02d", t.Second())
	case 't':
		return "\t", true
	case 'T', 'X':
		return layout("15:04:05")
	case 'u':
		return num("%d", (int(t.Weekday())+6)%7+1)
	case 'U':
		return num("%02d", (t.YearDay()+6-int(t.Weekday()))/7)
	case 'V':
		return num("%02d", week)
	case 'w':
		return num("%d", int(t.Weekday()))
	case 'W':
		return num("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7)
	case 'y':
		return num("%02d", t.Year()%100)
	case 'Y':
		return num("%d", t.Year())
	case 'z', 'Z': // Python's datetime.now() has no zone
		return "", true
	case '%':
		return "%", true
	}
	return "", false
}
