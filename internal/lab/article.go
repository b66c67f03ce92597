package lab

import (
	"slices"
	"strings"
)

// Article is one of the five, as its reader finds it again.
type Article struct {
	ID, Title string
	Claims    []Claim
	Own       []Own // the same of one's own program
}

// Claim is what an article says, in short, and the experiments whose hypotheses quote it for that.
type Claim struct {
	Says string
	Of   []string
}

// Own is a command that asks the same of one's own program, and what it does.
type Own struct{ Does, Command string }

// Articles are all of them.
func Articles() []Article { return slices.Clone(articles) }

var articles = []Article{
	{
		ID: "000", Title: "GOMAXPROCS Performance Tuning",
		Claims: []Claim{
			{"Throughput rises up to one P per CPU and is flat beyond; p99 rises.", []string{"cpuserver", "parallel"}},
			{"What waits for I/O needs no more Ps than CPUs, no thread and no P.", []string{"tinyserver", "idle"}},
			{"A tight loop loses its P after some 10 ms.", []string{"preempt"}},
			{"One P more gives no headroom, to the collector or to C calls.", []string{"headroom", "gc", "blocking"}},
			{"Each P costs: stealing, spinning, memory, the tail.", []string{"stealing", "spin", "extremes"}},
			{"If a limit throttles, GOMAXPROCS cannot help: raise the limit.", []string{"k8sbench"}},
			{"Only separate processes keep one tenant from another.", []string{"tenants"}},
			{"Since Go 1.18 the default follows a container's CPU limit.", []string{"defaults"}},
		},
		Own: []Own{{"Both curves of your server", "procfit sweep --url http://127.0.0.1:{port}/ -- ./server -addr :{port}"}},
	},
	{
		ID: "001", Title: "GOMAXPROCS and Scheduler Tuning",
		Claims: []Claim{
			{"Work that computes scales with the cores, and not beyond.", []string{"workload", "cpubound", "threads"}},
			{"Work that waits does not depend on GOMAXPROCS.", []string{"iobound", "tinyserver"}},
			{"Contention and switches cost time, and there are remedies.", []string{"contention", "remedies"}},
			{"Since Go 1.14 a tight loop no longer starves other goroutines.", []string{"preempt"}},
			{"Work stealing keeps every P busy, and is fair.", []string{"stealing"}},
			{"GODEBUG=schedtrace shows what Ps and threads do.", []string{"schedtrace"}},
			{"The runtime does not see a container's CPU limit.", []string{"defaults"}},
		},
		Own: []Own{{"The curve of your program", "procfit sweep -- ./job"}, {"GOMAXPROCS from the limit in your manifests", "procfit check --fix deploy/"}},
	},
	{
		ID: "002", Title: "Go 1.5 GOMAXPROCS Default",
		Claims: []Claim{
			{"Many goroutines with nothing in parallel lose under 1.1 to 1.2 times with Go 1.5, 2 to 10 times before.", []string{"chain", "chainbuf", "powser"}},
			{"Switches in one thread are much cheaper than between threads.", []string{"handoff"}},
			{"Programs with real parallelism scale.", []string{"sieve", "garbage", "http", "json"}},
			{"One goroutine gains too, by the collector's parallelism.", []string{"gc"}},
			{"The go command gains little.", []string{"build"}},
			{"GOMAXPROCS limits what runs Go code, not system calls.", []string{"threads", "blocking"}},
			{"The default was 1, and is the number of CPUs.", []string{"defaults"}},
			{"More parallelism shows a program's races more often.", []string{"racy"}},
		},
		Own: []Own{{"Your program with several Go versions", "procfit sweep --go 1.24,1.26 --build ./cmd/job"}},
	},
	{
		ID: "003", Title: "Set GOMAXPROCS for Go programs in containers",
		Claims: []Claim{
			{"GOMAXPROCS limits the threads that execute Go code, and not those in system calls.", []string{"threads", "blocking"}},
			{"GOMAXPROCS at the CPU limit is significantly faster.", []string{"busyworker"}},
			{"The collector's threads do not depend on it, and yet suffer from a mismatch.", []string{"gc"}},
		},
		Own: []Own{{"Your program under several limits", "procfit sweep --limit 500m,1,2 -- ./job"}},
	},
	{
		ID: "004", Title: "Golang Performance Penalty in Kubernetes",
		Claims: []Claim{
			{"A pod with more Ps than its CPU limit has longer latencies, serves less, and has many more context switches.", []string{"k8sbench"}},
		},
		Own: []Own{
			{"The fix in your manifests", "procfit check --diff deploy/"},
			{"What the mismatch costs", "procfit sweep --limit 1 --procs 1,2,32 --url http://127.0.0.1:{port}/ -- ./server"},
		},
	},
}

// isArticle reports whether a document is one of the five articles, which are numbered, or several.
func isArticle(document string) bool {
	return document != "" && document[0] >= '0' && document[0] <= '9'
}

// DocumentName is a document in words: "article 001", "articles 000, 001".
func DocumentName(document string) string {
	switch {
	case !isArticle(document):
		return document
	case strings.Contains(document, ","):
		return "articles " + document
	}
	return "article " + document
}

// OfArticle reports whether it is of one of the five articles.
func (r *Ran) OfArticle() bool { return isArticle(r.Document) }

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
