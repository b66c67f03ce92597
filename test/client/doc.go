// Package client shows what package metrics is for where a client library is in
// use: a Collector of client_golang, and instruments of OpenTelemetry. Copy the
// one that you need; the library itself depends on neither.
//
// Both leave GOMAXPROCS to the client library, which has it already
// (go_sched_gomaxprocs_threads, go.processor.limit), and add what it has not: the
// CPU limit, the file that holds it, and the throttling.
package client
