// Package wire is one connection of a load: HTTP/1.1 or HTTP/2, over TLS or plain,
// on the standard library's TLS and on x/net's frames and header compression.
//
// A Conn has places, in each of which one request at a time is under way: one for
// HTTP/1.1, as many as streams for HTTP/2. Its owner's goroutine waits for bytes
// (Wait) and handles what came (Take); whoever holds the owner's lock may start
// requests, which leave together with Flush. So a batch of answers costs one read
// and the requests that follow on them one write, and no goroutine is woken for a
// single stream; that is why net/http's client, which has two goroutines a
// connection and one a request, is not used here. gRPC is HTTP/2 with another end
// of the answer.
//
// # Limits
//
// No pipelining, no push, no priorities, no compression, no trailers but gRPC's. Of
// a body only the length is looked at, of gRPC's messages how many there are and that
// they are whole. What a server may send without bound is bounded: headers by maxHead,
// bodies by the time-out of the request.
package wire
