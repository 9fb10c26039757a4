// Package unidata decides what a character is to the reference tokenizer library: categories as its regular
// expression engine has them, white space, digits and letters as its language has them, and the normal forms of the
// old Unicode version it normalises with. None of these equals Go's own Unicode data. See gen/README.md.
package unidata

import _ "embed"

//go:embed tables.bin
var tables string

const blockBits = 7

func lookup(index, blocks int, r rune) byte {
	if uint32(r) > 0x10FFFF {
		return 0
	}
	at := index + int(r>>blockBits)*2
	b := int(tables[at])<<8 | int(tables[at+1])
	return tables[blocks+b<<blockBits+int(r&(1<<blockBits-1))]
}

// Category is a general category. The order is that of the packed tables.
type Category uint8

// General categories by their two-letter names.
const (
	Cn Category = iota
	Lu
	Ll
	Lt
	Lm
	Lo
	Mn
	Mc
	Me
	Nd
	Nl
	No
	Pc
	Pd
	Ps
	Pe
	Pi
	Pf
	Po
	Sm
	Sc
	Sk
	So
	Zs
	Zl
	Zp
	Cc
	Cf
	Co
)

// CategoryNames are the two-letter names in the order of the constants.
const CategoryNames = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCo"

// Bits of the byte that Regex returns beside the category.
const (
	CategoryMask = 0x1f
	RegexSpace   = 0x20 // \s
	RegexWord    = 0x40 // \w
	RegexHan     = 0x80 // \p{Han}
)

// Regex returns what the regular expression engine knows of r: a Category and the bits above.
func Regex(r rune) byte { return lookup(onigIndex, onigBlocks, r) }

// Named is a set of the regular expression engine's named classes.
type Named uint8

// Named classes that general categories do not give.
const (
	Alpha Named = 1 << iota
	Upper
	Lower
	Graph
)

// NamedClasses returns the named classes that hold r.
func NamedClasses(r rune) Named { return Named(lookup(posixIndex, posixBlocks, r)) }

// Flags are properties outside regular expressions.
type Flags uint8

// What components other than regular expressions ask of a character.
const (
	Numeric      Flags = 1 << iota // cut by the Digits pre-tokenizer
	Space                          // white space to strip and to split at
	Punctuation                    // cut by the Punctuation and Bert pre-tokenizers
	Word                           // \w of added tokens and of the Whitespace pre-tokenizer
	Control                        // removed by Bert's text cleaning
	Nonspacing                     // removed by Bert's accent stripping, after decomposition
	StripAccents                   // removed by the StripAccents normalizer
)

// Of returns the flags of r.
func Of(r rune) Flags { return Flags(lookup(rustIndex, rustBlocks, r)) }

// Script returns the number of the regular expression engine's script of r: its place in ScriptNumber, 0 if it is
// none of the known ones.
func Script(r rune) uint8 { return lookup(scriptIndex, scriptBlocks, r) }

// ScriptNumber finds a script by name as regular expressions spell it.
func ScriptNumber(name string) (uint8, bool) {
	for i, n := range scriptNames {
		if n == name {
			return uint8(i + 1), true
		}
	}
	return 0, false
}

// ScriptGroup is the group in which the UnicodeScripts pre-tokenizer puts r; 0 has no script of its own.
func ScriptGroup(r rune) uint8 { return lookup(uscriptIndex, uscriptBlocks, r) }

// find looks r up in a packed mapping.
func find(count, keys, ends, texts int, r rune) (string, bool) {
	lo, hi := 0, count
	for lo < hi {
		m := (lo + hi) / 2
		at := keys + 3*m
		k := rune(tables[at])<<16 | rune(tables[at+1])<<8 | rune(tables[at+2])
		switch {
		case k < r:
			lo = m + 1
		case k > r:
			hi = m
		default:
			from := 0
			if m > 0 {
				from = end(ends, m-1)
			}
			return tables[texts+from : texts+end(ends, m)], true
		}
	}
	return "", false
}

func end(ends, m int) int { return int(tables[ends+2*m])<<8 | int(tables[ends+2*m+1]) }

// ToLower returns the lower case of r if it differs.
func ToLower(r rune) (string, bool) {
	return find(lowerCount, lowerKeys, lowerEnds, lowerTexts, r)
}
