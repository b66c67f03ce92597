package main

// inCluster has the tests that share a real cluster.
const inCluster = "test/cluster"

// shared are the packages in which goroutines share something.
var shared = []string{
	"internal/check", "internal/check/source",
	"internal/host/folder", "internal/host/halt", "internal/host/procstat", "internal/host/supervisor",
	"internal/inspect/exporter", "internal/inspect/watch",
	"internal/load/engine",
	"internal/measure/local", "internal/measure/plan", "internal/measure/session", "internal/measure/trial",
	"internal/program/goproc", "internal/program/meter", "internal/program/observe", "internal/program/target",
	"internal/trace/sched",
	"internal/measure/paired", "internal/measure/live", "internal/verdict/journal", "internal/verdict/page/served",
}

// portable are the packages with parts for macOS and Windows that the tag "portable"
// chooses on Linux.
var portable = []string{"internal/host/supervisor", "internal/host/start", "internal/load", "internal/load/engine", "internal/measure/local"}

// proves has, for tests that run programs instead of calling code, what these tests are
// to prove: files, folders that end with a slash, and patterns of path.Match. What their
// test programs are compiled from does not decide: that is everything, for some, or
// nothing.
var proves = map[string][]string{
	inCluster: {"internal/measure/kube/", "internal/check/cluster/", "internal/host/cluster/", "internal/lab/pods/", "internal/measure/paired/", "internal/verdict/canary/", "internal/verdict/paired/",
		"internal/cli/kube*.go", "internal/cli/canary*.go", "internal/cli/checkcluster.go", "internal/cli/image.go", "deploy/kubernetes/", "deploy/helm/",
		"internal/cli/fleet*.go", "internal/cli/live*.go", "maxprocs/live/", "internal/check/manifest/testdata/corpus/kubernetes/", "docs/how-to/fix-a-manifest.md", "docs/how-to/try-values-live.md"},
	// Scripts, which all start the whole command line.
	"internal/cli/scripts/check":   {"internal/cli/*.go", "internal/cli/scripts/*.go", "internal/cli/schematest/", "docs/reference/formats/", "internal/check/", "internal/program/", "internal/host/folder/", "internal/show/", "maxprocs/facts/"},
	"internal/cli/scripts/look":    {"internal/cli/*.go", "internal/cli/entry/", "internal/cli/scripts/*.go", "internal/cli/schematest/", "docs/reference/formats/", "internal/inspect/", "internal/trace/", "internal/program/", "internal/host/", "internal/show/", "maxprocs/"},
	"internal/cli/scripts/measure": {"internal/cli/*.go", "internal/cli/scripts/*.go", "internal/cli/schematest/", "docs/reference/formats/", "internal/measure/", "internal/verdict/", "internal/load/", "internal/program/", "internal/host/", "internal/show/", "maxprocs/"},
	"internal/cli/scripts/lab":     {"internal/cli/*.go", "internal/cli/scripts/*.go", "internal/cli/schematest/", "docs/reference/formats/", "internal/lab/", "internal/measure/", "internal/verdict/", "internal/trace/", "internal/load/", "internal/program/toolchain/", "internal/host/", "internal/show/"},
	"internal/cli/scripts/kube":    {"internal/cli/*.go", "internal/cli/scripts/*.go", "internal/cli/schematest/", "docs/reference/formats/", "internal/measure/", "internal/verdict/", "internal/check/", "internal/host/cluster/", "internal/show/", "deploy/kubernetes/"},
	"internal/cli/scripts/recipes": {".github/", "action.yml", "templates/", "deploy/ci/", "deploy/kubernetes/fleet.yaml", ".pre-commit-hooks.yaml", "internal/cli/fleet*.go", "internal/cli/compare*.go", "internal/cli/check*.go", "internal/verdict/fleet/", "internal/host/git/"},
	// On other kernels, and with other releases of Go.
	"test/vm":                    {"maxprocs/", "internal/host/cgroup/", "internal/host/topology/", "internal/measure/local/", "internal/program/observe/", "internal/inspect/ps/", "internal/program/toolchain/", "internal/lab/emulated.json"},
	"test/goruntime":             {"maxprocs/facts/", "maxprocs/internal/"},
	"test/live":                  {"internal/program/goproc/", "internal/program/observe/", "internal/inspect/ps/", "internal/host/procstat/"},
	"test/meter":                 {"maxprocs/live/", "maxprocs/facts/", "maxprocs/internal/", "internal/load/engine/"},
	"test/agree":                 {}, // its own folder
	"test/aa":                    {},
	"internal/program/toolchain": {},
	"internal/lab":               {},
	// Against other libraries.
	"test/automaxprocs": {"maxprocs/", "docs/reference/library.md"},
	"test/automemlimit": {"maxprocs/memlimit/", "maxprocs/facts/", "maxprocs/internal/"},
	// What a release has.
	"test/release": {".ci/release", ".ci/verify-release", ".goreleaser.yaml", "deploy/homebrew/", "deploy/nix/", "deploy/systemd/", "deploy/ci/install.sh", "docs/how-to/install.md", "cmd/", "go.mod", "maxprocs/go.mod"},
}

// outside has what is read of files that belong to no package, by the folders of the
// packages whose second tier reads them. The first rule that matches decides. A file
// without a rule makes everything due.
var outside = []struct{ paths, read []string }{
	{[]string{"test/mission.md"}, []string{"internal/cli"}},
	{[]string{".github/", "action.yml", "templates/", "deploy/ci/"}, []string{"internal/cli", "internal/cli/scripts/recipes"}},
	{[]string{"deploy/prometheus/", "deploy/grafana/"}, []string{"internal/inspect/exporter"}},
	{[]string{"deploy/", "README.md"}, []string{"internal/cli", "internal/cli/scripts/recipes"}},
	// The first tier and the analyzers read these, or nothing does.
	{[]string{"docs/", "*.md", "LICENSE", ".gitignore", ".editorconfig", "staticcheck.conf", ".ci/lint", ".ci/fresh", ".ci/full", ".ci/new-go", ".ci/release", ".ci/verify-release", ".goreleaser.yaml", ".pre-commit-hooks.yaml", "test/lint/"}, nil},
}
