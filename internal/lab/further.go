package lab

import (
	"github.com/procfit/procfit/internal/lab/programs/blocking"
	"github.com/procfit/procfit/internal/lab/programs/extremes"
	"github.com/procfit/procfit/internal/lab/programs/gc"
	"github.com/procfit/procfit/internal/lab/programs/headroom"
	"github.com/procfit/procfit/internal/lab/programs/idle"
	"github.com/procfit/procfit/internal/lab/programs/mixed"
	"github.com/procfit/procfit/internal/lab/programs/racy"
	"github.com/procfit/procfit/internal/lab/programs/remedies"
	"github.com/procfit/procfit/internal/lab/programs/tenants"
)

// statements are the experiments on what the documents say without one of their own:
// each has a program of ours, a file of this package, and the document's words.
func statements() []Experiment {
	const modern = "1.21"
	return []Experiment{
		{
			ID: "headroom", Document: "000", Kind: Batch, Language: modern, program: headroom.Program,
			Title: "a service that allocates much, at one P more and one less than there are CPUs",
		},
		{
			ID: "idle", Document: "000", Kind: Batch, Language: modern, program: idle.Program,
			Title: "what ten thousand connections cost that nobody uses",
		},
		{
			ID: "extremes", Document: "000", Kind: Batch, Language: modern, program: extremes.Program,
			Title: "16 and 32 times as many Ps as CPUs, and 128 of them under one CPU",
		},
		{
			ID: "gc", Document: "000, 002, 003", Kind: Batch, Language: modern, program: gc.Program,
			Title: "one goroutine that allocates, and what the collector takes",
		},
		{
			ID: "blocking", Document: "000, 002, 003", Kind: Batch, Language: modern, program: blocking.Program,
			Title: "a hundred goroutines in calls that block, of the system and of C",
		},
		{
			ID: "mixed", Document: "001", Kind: Batch, Language: modern, program: mixed.Program,
			Title: "50 goroutines that compute beside 50 that wait: the range that is recommended for mixed work",
		},
		{
			ID: "tenants", Document: "000", Kind: Batch, Language: modern, program: tenants.Program,
			Title: "a quiet tenant beside a busy one: what keeps them apart",
		},
		{
			ID: "racy", Document: "002", Kind: Batch, Language: modern, program: racy.Program,
			Title: "a counter without a lock, and what the race detector says of it",
		},
		{
			ID: "remedies", Document: "001", Kind: Batch, Language: modern, program: remedies.Program,
			Title: "a contended counter, lock-free, sharded and in batches",
		},
	}
}

// documentStatements is what to run of them and what they are held against.
func documentStatements() map[string]described {
	return map[string]described{
		"headroom": {headroomStages, headroomHypotheses()},
		"idle":     {idleStages, idleHypotheses()},
		"extremes": {extremesStages, extremesHypotheses()},
		"gc":       {gcStages, gcHypotheses()},
		"blocking": {blockingStages, blockingHypotheses()},
		"mixed":    {mixedStages, mixedHypotheses()},
		"tenants":  {tenantsStages, tenantsHypotheses()},
		"racy":     {racyStages, racyHypotheses()},
		"remedies": {remediesStages, remediesHypotheses()},
	}
}
