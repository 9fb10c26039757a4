// Package load sends a Plan on time and emits what happened as Records. It owns the transport (HTTP/1.1, TLS, proxies, unix
// sockets, connections) and the clocks; it knows no protocol, no file and no screen: bytes get their meaning from a bench.Protocol.
//
// One goroutine walks the plan against absolute due times and grants slots; each request runs in a goroutine of its own;
// one goroutine hands finished Records to emit. Nobody who sends or receives waits for the one who records.
//
// On Linux a connection is read with recvmsg beneath net/http and crypto/tls, so that bytes carry the instant at which the
// kernel received them, however late this program comes to read them; wall maps that to the run's clock. What is left to go
// wrong is told: each event keeps its receive lag, and Health the rest.
package load
