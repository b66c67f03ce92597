// Package bench writes a Result in the Go benchmark format, one line a valid
// trial, so that benchstat reads it: `benchstat -col /procs bench.txt` compares
// the values of GOMAXPROCS with benchstat's own tests. It takes trials for
// unpaired samples and so sees less than the paired comparison of the report.
//
// The setting is in the benchmark's name, /procs=unset or /procs=2, with /quota,
// /replicas, /go and /variant where the plan names them. A/A copies, pilots and
// invalid trials are left out.
package bench
