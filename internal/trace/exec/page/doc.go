// Package page makes documents of an execution trace: what each P ran over time, who was
// stolen from whom, and the goroutines one by one. Text from outside is printable in an
// exec.Trace.
package page
