// Package lab holds the practice programs: small Go programs whose behaviour
// under GOMAXPROCS is known, from documents that others measured before.
//
// # Model
//
// An Experiment is a program and what its document says of it. Each program is
// one file, programs/ID/main.go, written to be read: the standard library, Go 1.21,
// its own func main, and what several programs do in package harness; the programs of
// document 002 keep to Go 1.2, so that every release can build them. Here the file is
// package ID, so that procfit runs it without a toolchain: a Server by Serve until its
// context ends, a Batch by Run until it is done. The files are embedded too, and Source
// gives a program as one file that stands alone: its package clause says main instead of
// ID, and what it uses of the harness is below it. A Command has no program; it measures
// the go command itself.
//
// A batch program writes its results to stdout in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format), and to stderr with which
// GOMAXPROCS it ran. It checks what it computed; exit code 1 says that it was
// wrong, 2 that the arguments were.
//
// What an experiment takes to run are its Stages, each a sweep, and what its
// document's numbers say are its Hypotheses, each about a ratio. Both are lists, in
// tables of experiments by document. A quantity is a figure of one setting; ratio, flat,
// peak, level and ended measure with it; judge answers, and says what of a machine it
// lacks: CPUs of the Ps, and one for a load that must not run on them. Numbers that a
// runtime chooses are answered from Emulated where the CPUs are too few. A ratio is
// paired by block, as all comparisons of package verdict are, and takes six blocks to
// have an interval. An Outcome is what a run came to. Package lab/run carries the stages
// out.
//
// # Limits
//
// What runs in-process is a program built as procfit was; the default GOMAXPROCS
// of a standalone build follows the toolchain and the go line of the module that
// it is put in. A go line below 1.25 makes the runtime ignore CPU limits.
//
// A batch program ends by itself, not with a context. preempt may not, where the
// runtime cannot preempt it: whoever starts it must be able to kill it.
package lab
