package dataset

import (
	"strconv"
	"strings"
)

// The embedded corpus is a text of any number of documents of any length, made from the lists in corpuswords.go by a fixed
// rule, so that prompts are varied, begin differently (no two share a cached prefix), and are the same everywhere. Its
// sentences follow one fixed mixture of prose, figures, other scripts and code, which keeps the number of tokens close to
// proportional to the number of words.

// document writes document number i until it has at least n words (white space between them).
func document(i, n int) string {
	w := &writer{state: mix(uint64(i) + 1)}
	w.open(i)
	// Every document enters the mixture at another point, so that short ones have all of it too.
	for step := w.below(len(mixture)); w.words < n; step++ {
		w.step(mixture[step%len(mixture)])
	}
	return w.text.String()
}

// mixture is what follows what: s a sentence, f one with figures, q a question or order, x another script, c code, p a new paragraph.
const mixture = "sfsqssxpsssfsqspssfqscpsfssqsspssfssqxpssqsfsp"

// cutWords gives the first n words of a text, the white space between them kept; all of it where it has fewer.
func cutWords(text string, n int) string {
	inWord, seen := false, 0
	for i, r := range text {
		if space := isSpace(r); space == inWord {
			if inWord = !space; inWord {
				seen++
			} else if seen == n {
				return text[:i]
			}
		}
	}
	return text
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }

// CalibrationPrompt is a text of exactly so many words of the embedded corpus. Variants begin differently, so that a
// server's prefix cache has none of the other; no document of a run is one of them.
func CalibrationPrompt(words, variant int) string {
	return cutWords(document(-2-variant, words), words)
}

// writer puts a document together. state is a splitmix64 counter.
type writer struct {
	text  strings.Builder
	words int
	state uint64
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number in [0, n).
func (w *writer) below(n int) int {
	w.state += 0x9e3779b97f4a7c15
	return int(mix(w.state) % uint64(n))
}

func (w *writer) pick(list []string) string { return list[w.below(len(list))] }

// open writes a first sentence that names the document.
func (w *writer) open(i int) {
	w.sentence(w.pick(openings), false)
	w.put(" (" + w.pick(nouns) + " " + strconv.Itoa(i&0xfffff) + "). ")
}

// step writes one item of the mixture.
func (w *writer) step(kind byte) {
	switch kind {
	case 's':
		w.sentence(w.pick(sentences), true)
	case 'f':
		w.sentence(w.pick(figures), true)
	case 'q':
		w.sentence(w.pick(questions), true)
	case 'x':
		w.put(w.pick(foreign))
	case 'c':
		w.put("\n\n")
		w.sentence(w.pick(code), false)
		w.put("\n\n")
		return
	case 'p':
		w.put("\n\n")
		return
	}
	w.put(" ")
}

// sentence fills a pattern: {n} a noun, {ns} its plural, {a} an adjective, {v} a past verb, {i} a verb, {p} a place, {t} a time, {w} a
// name, {#} a number under 100, {##} one under 10,000, {.} a decimal, {ob} a brace.
func (w *writer) sentence(pattern string, capital bool) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		out.WriteString(before)
		if !found {
			break
		}
		slot, after, _ := strings.Cut(rest, "}")
		out.WriteString(w.fill(slot))
		pattern = after
	}
	s := out.String()
	if capital {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	w.put(s)
}

func (w *writer) fill(slot string) string {
	switch slot {
	case "n":
		return w.pick(nouns)
	case "ns":
		return w.pick(nouns) + "s"
	case "a":
		return w.pick(adjectives)
	case "v":
		return w.pick(pasts)
	case "i":
		return w.pick(verbs)
	case "p":
		return w.pick(places)
	case "t":
		return w.pick(times)
	case "w":
		return w.pick(names)
	case "#":
		return strconv.Itoa(2 + w.below(98))
	case "##":
		return strconv.Itoa(100 + w.below(9900))
	case "ob":
		return "{"
	case ".":
		return strconv.Itoa(w.below(40)) + "." + strconv.Itoa(w.below(10))
	}
	panic("dataset: the corpus has no slot {" + slot + "}")
}

func (w *writer) put(s string) {
	w.text.WriteString(s)
	w.words += len(strings.Fields(s))
}
