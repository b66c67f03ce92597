package lab

import (
	"slices"
	"strings"
)

// Article is one of the five, as its reader finds it again.
type Article struct {
	ID, Title string
	Claims    []string // what it says, in short
	Own       []string // commands that ask the same of one's own program
}

// Articles are all of them.
func Articles() []Article { return slices.Clone(articles) }

var articles = []Article{
	{
		ID: "000", Title: "GOMAXPROCS Performance Tuning",
		Claims: []string{
			"Throughput rises up to one P per CPU and is flat beyond; p99 rises beyond.",
			"More Ps than CPUs help neither I/O, nor C calls, nor headroom.",
			"Each P has a cost: stealing, spinning, memory, threads, the tail.",
			"Since Go 1.18 the default follows a container's CPU limit.",
		},
		Own: []string{"procfit sweep --url http://127.0.0.1:{port}/ -- ./server -addr :{port}"},
	},
	{
		ID: "001", Title: "GOMAXPROCS and Scheduler Tuning",
		Claims: []string{
			"Work that computes scales with the cores; work that waits does not depend on GOMAXPROCS.",
			"Contention and switching between goroutines cost time.",
			"Since Go 1.14 a tight loop no longer starves other goroutines.",
			"The runtime does not see a container's CPU limit.",
		},
		Own: []string{"procfit sweep -- ./job", "procfit check --fix deploy/"},
	},
	{
		ID: "002", Title: "Go 1.5 GOMAXPROCS Default",
		Claims: []string{
			"Programs with many goroutines and nothing in parallel lose less than 1.1 to 1.2 times with Go 1.5; they lost 2 to 10 times before.",
			"Programs with real parallelism scale; even those with one goroutine gain from the collector's.",
			"A switch of goroutines in one thread is much cheaper than one between threads.",
			"More parallelism shows the races of a program more often.",
		},
		Own: []string{"procfit sweep --go 1.24,1.26 --build ./cmd/job"},
	},
	{
		ID: "003", Title: "Set GOMAXPROCS for Go programs in containers",
		Claims: []string{
			"GOMAXPROCS limits the threads that execute Go code, and not those in system calls.",
			"In a container the default is the machine's number of CPUs.",
			"GOMAXPROCS at the CPU limit improves performance significantly.",
		},
		Own: []string{"procfit sweep --limit 500m,1,2 -- ./job"},
	},
	{
		ID: "004", Title: "Golang Performance Penalty in Kubernetes",
		Claims: []string{
			"A pod with more Ps than its CPU limit has longer latencies, serves less, and has many more context switches.",
			"GOMAXPROCS from limits.cpu in the manifest fixes it.",
		},
		Own: []string{"procfit check --diff deploy/", "procfit sweep --limit 1 --procs 1,2,32 --url http://127.0.0.1:{port}/ -- ./server -addr :{port}"},
	},
}

// Article is the id of the one that a hypothesis quotes, of an experiment that may be of several;
// empty: it is of none.
func (r *Ran) Article(a Answered) string {
	if !r.OfArticle() {
		return ""
	}
	if id, _, quoted := strings.Cut(a.Document, ": "); quoted && slices.ContainsFunc(articles, func(x Article) bool { return x.ID == id }) {
		return id
	}
	id, _, _ := strings.Cut(r.Document, ",")
	return id
}
