package bench

import (
	"strconv"
	"strings"
)

// Number writes how many there are of something, given its singular: Number(1, "reply") is "1 reply", Number(3, "reply") "3 replies".
func Number(n int, noun string) string { return strconv.Itoa(n) + " " + Agree(n, noun, plural(noun)) }

// Part writes how many of all: Part(1, 3, "reply") is "1 of 3 replies". Its verb agrees with n.
func Part(n, all int, noun string) string { return strconv.Itoa(n) + " of " + Number(all, noun) }

// Agree picks the words that go with a number: those for one, or those for more and for none.
func Agree(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// plural follows the rules of English; of a noun with adjectives the last word changes.
func plural(noun string) string {
	switch last := len(noun) - 1; {
	case last > 0 && noun[last] == 'y' && !strings.ContainsRune("aeiou", rune(noun[last-1])):
		return noun[:last] + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}
