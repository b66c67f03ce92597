package lab

import "time"

// Stage is one sweep of an experiment: it goes through the same plan, trials,
// journal, statistics and report as procfit sweep. Its fields are that command's
// flags; what is zero is that flag's default.
type Stage struct {
	ID    string // of its folder; "" for the only one
	Title string // what differs from the other stages; "" for the only one
	// Fixed keeps Procs, Quotas and Go as they are, which Title names, whatever the
	// user would have instead.
	Fixed bool
	// Scaled is what the document does at another size, and which: "10 s a trial
	// there, 4 s here". "" is nothing.
	Scaled string

	Program string   // the practice program; "" for Command
	Args    []string // of the program
	Command []string // instead of Program: one of the system, such as go build std

	Procs    string // unset,1,2,4
	Quotas   string // none,0.2,1
	Replicas int
	Go       []string // versions that build Program, each an arm
	Language string   // the go line that they build with, 1.24; "": the user's --lang, or each its own
	Env      []string // NAME=value, of the target besides GOMAXPROCS: GODEBUG=asyncpreemptoff=1

	// Of a server.
	Path        string // of its URL: /cpu?n=1
	Connections int
	Rate        string
	Body        int // bytes of a POST; 0: GET
	Warmup      time.Duration

	Duration time.Duration // measured time of a server's trial
	Takes    time.Duration // about how long a batch trial takes, on two CPUs: for the run's cost
	Limit    time.Duration // a batch trial that takes longer is ended and invalid; 0: none
	Repeats  int
	Metrics  []string // NAME[:lower|:higher]=REGEXP; none: the lines in the benchmark format
}

// Options are what the user may change in an experiment.
type Options struct {
	Quick bool     // sizes and repeats that bring all experiments below ten minutes
	Procs string   // instead of the experiment's own; "" leaves it
	Quota string   // likewise
	Go    []string // likewise
	// Repeats is the number of blocks; 0 leaves the experiment's own.
	Repeats int

	CPUs float64 // that one replica may use here without a quota

	Pods int // of k8sbench; 0: scaled from the document's to the machine
	N    int // of k8sbench: sums a request; 0: the document's
}
