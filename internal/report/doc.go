// Package report writes a Summary for people and for programs.
//
// SGLangBlock prints the block of SGLang's client with its exact labels, and behind it a second block of what that one leaves
// out; SGLangLine gives the JSON line, AppendLine puts it into a file, DefaultFileName names that file. Text is the native
// report (an answer first, then both blocks), JSON its form for programs. Escape makes text from servers safe to show.
//
// What was not measured prints n/a and is null in JSON; nothing here computes a figure that a Summary does not hold.
package report
