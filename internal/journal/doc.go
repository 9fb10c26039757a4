// Package journal keeps a run in a file of JSON Lines as it happens, so that neither a crash nor a full disk costs a finished
// request, and reads such files back: torn ones, and those of other versions.
//
// The first line is a Header, then comes one bench.Record a line in the order of finishing, what the client knew of itself
// (bench.Health), and last an End:
//
//	{"servemark_journal":1,"version":"…","started":"…","plan":{…},"server":{…}}
//	{"id":0,"due":…,"chunks":[[at_ns,tokens,channel,bytes,lag_us],…],…}
//	{"health":{"engine":"net/http","kernel_reads":…,…}}
//	{"end":{"at":"…","interrupted":false}}
//
// Create and Writer.Append write; Open and Read read. A file without its last line is a run that was cut short.
package journal
