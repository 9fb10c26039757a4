// Package endpoint is how each server talks: it renders requests into the bodies a server understands, reads its
// replies (server-sent events or one JSON body) into facts, and asks a server what it is and what it serves.
//
// It opens no connection for the load: bytes come in through bench.Decoder with the instants at which they were read.
// Of a Record it writes Status, Chunks, Finish, Usage, ChunkTokens, Streamed, Text, Malformed and Failure; every other
// instant, Bytes, Resent and Cancelled belong to whoever owns the connection. Introspection (Discover, Ready,
// TokenizeClient) makes small requests of its own and belongs outside the measured window.
package endpoint
