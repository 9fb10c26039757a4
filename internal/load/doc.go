// Package load sends a Plan on time and emits what happened as Records. It owns the transport (HTTP/1.1, TLS, proxies,
// connections) and the clock; it knows no protocol, no file and no screen: bytes get their meaning from a bench.Protocol.
//
// One goroutine walks the plan against absolute due times and grants slots; each request runs in a goroutine of its own;
// one goroutine hands finished Records to emit. Nobody who sends or receives waits for the one who records.
package load
