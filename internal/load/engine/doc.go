// Package engine offers the load that package load describes, and measures what came
// back. It is two engines: the raw one is for HTTP/1.1 over plain TCP on Linux; the
// portable one, on the connections of package wire, for TLS, HTTP/2 and gRPC too, and for
// all systems. The schedule, what is counted and the life of a run are the same code (run,
// lane).
//
// # Model
//
// In a closed loop each connection sends its next request when its answer has
// come: the rate is the server's. In an open loop request i is intended at
// t0 + i/rate whatever the server does, and its latency counts from that
// moment, even while every connection is busy: the backlog waits for a free
// connection, and that wait is the server's. Send lag is kept apart: how late
// the engine itself sent, after both the intended moment and a free connection
// were there.
//
// When the duration is over nothing more is intended. What is under way or in
// the backlog may still end within as long again, 1 s at least and 2 s at most,
// which bounds every wait: a time-out that is longer than what is left cannot fire.
// A request that has no answer then is unanswered; it enters the latency histogram
// as "at least this long", so that a stall at the end shows.
//
// So does one that failed, by a time-out or a broken connection, at the time it
// waited, and a bad status is an answer like any other. vegeta and fortio count
// failed requests in the latency too; wrk, wrk2 and hey leave them out, and a
// server that breaks the slow ones then looks fast. One that fails fast looks
// fast here: its failures are to be read from the counts, in all and by URL.
//
// Settle is a stretch of the same load before the measured time, in none of its
// figures.
//
// The raw engine is one or a few event loops, each a locked operating system thread
// with its own epoll, connections and histograms; nothing is shared while it
// runs and nothing is allocated per request. Most of its CPU time is the
// kernel's, spent in one send and one receive a request.
//
// The portable engine has a goroutine a connection, which reads answers and sends
// what follows on them, and one for the schedule. Its CPU time is the process's. A
// connection that a server of HTTP/2 gives up in good order (GOAWAY) loses nothing:
// what it had not begun with is sent again, and its latency goes on.
//
// # Limits
//
// The raw engine needs Linux (epoll, timerfd). No pipelining, no redirects followed, no response body looked at beyond its
// length. A closed loop counts from the send, so it does not see the time to
// open a connection. With several threads the connections and the slots of the
// schedule are dealt to the threads in turn, and a slot waits for a connection
// of its own thread. Timers are as exact as the kernel's: on an idle machine a
// send is some tens of microseconds late, which the send lag shows.
package engine
