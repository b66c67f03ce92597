package manifest

import (
	"cmp"
	"context"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
)

// TestLineFixes: --fix changes a line of a compose file, a unit or a Dockerfile that sets GOMAXPROCS alone,
// and nothing else.
func TestLineFixes(t *testing.T) {
	const unit = "[Service]\nExecStart=/app\nCPUQuota=200%\n"
	const image = "FROM golang:1.26 AS build\nRUN go build -o /app .\nFROM debian\nCOPY --from=build /app /app\n"
	for name, tc := range map[string]struct{ file, version, text, want string }{
		"a number in a mapping":       {"compose.yaml", "", "services:\n  a:\n    image: x # one\n    environment:\n      A: b\n      GOMAXPROCS: \"8\" # many\n    cpus: 2\n", "services:\n  a:\n    image: x # one\n    environment:\n      A: b\n      GOMAXPROCS: \"2\" # many\n    cpus: 2\n"},
		"a number in a list":          {"compose.yaml", "go1.24", "services:\r\n  a:\r\n    image: x\r\n    environment:\r\n    - GOMAXPROCS=16\r\n    cpus: 1.5\r\n", "services:\r\n  a:\r\n    image: x\r\n    environment:\r\n    - GOMAXPROCS=2\r\n    cpus: 1.5\r\n"},
		"no longer needed":            {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    environment:\n      A: b\n      GOMAXPROCS: 8\n    cpus: 2\n", "services:\n  a:\n    image: x\n    environment:\n      A: b\n    cpus: 2\n"},
		"the only one of its mapping": {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    environment:\n      GOMAXPROCS: 8\n    cpus: 2\n", ""},
		"of its list":                 {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    environment:\n    - GOMAXPROCS=8\n    cpus: 2\n", ""},
		"next to a comment":           {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    environment:\n      # as measured\n      GOMAXPROCS: 8\n      # and no more\n    cpus: 2\n", ""},
		"one of a list":               {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    environment:\n    - GOMAXPROCS=8\n    - A=b\n    cpus: 2\n", "services:\n  a:\n    image: x\n    environment:\n    - A=b\n    cpus: 2\n"},
		"an anchor":                   {"compose.yaml", "", "x-env: &env\n  A: b\n  GOMAXPROCS: 8\nservices:\n  a: {image: x, environment: *env, cpus: 2}\n  b: {image: x, environment: *env, cpus: 8}\n", ""},
		"in one line with others":     {"compose.yaml", "", "services:\n  a: {image: x, environment: {GOMAXPROCS: 8}, cpus: 2}\n", ""},
		"no limit":                    {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    environment:\n      A: b\n      GOMAXPROCS: 8\n", ""},
		"suppressed":                  {"compose.yaml", "", "services:\n  a:\n    image: x\n    environment:\n      # procfit:ignore PF001 measured\n      GOMAXPROCS: 8\n    cpus: 2\n", ""},
		"an old unit":                 {"a.service", "go1.24", unit + "Environment=\"GOMAXPROCS=8\"\n", unit + "Environment=\"GOMAXPROCS=2\"\n"},
		"a new unit":                  {"a.service", "go1.26", unit + "Environment=GOMAXPROCS=8\nNice=5\n", unit + "Nice=5\n"},
		"used by a new unit":          {"a.service", "go1.26", "[Service]\nCPUQuota=200%\nExecStart=/app --workers=${GOMAXPROCS}\nEnvironment=GOMAXPROCS=8\n", "[Service]\nCPUQuota=200%\nExecStart=/app --workers=${GOMAXPROCS}\nEnvironment=GOMAXPROCS=2\n"},
		"as it is, and used":          {"a.service", "go1.26", "[Service]\nCPUQuota=200%\nExecStart=/app --workers=${GOMAXPROCS}\nEnvironment=GOMAXPROCS=2\n", ""},
		"used before the start":       {"a.service", "go1.26", unit + "ExecStartPre=/prepare $GOMAXPROCS\nEnvironment=GOMAXPROCS=2\n", ""},
		"used by a quadlet":           {"a.container", "go1.26", "[Container]\nImage=x\nPodmanArgs=--cpus=2\nExec=--workers=${GOMAXPROCS}\nEnvironment=GOMAXPROCS=2\n", ""},
		"used by a service":           {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    command: app --workers=$$GOMAXPROCS\n    environment:\n      A: b\n      GOMAXPROCS: 2\n    cpus: 2\n", ""},
		"above a file not read":       {"compose.yaml", "go1.26", "services:\n  a:\n    image: x\n    env_file: gone.env\n    environment:\n      A: b\n      GOMAXPROCS: 2\n    cpus: 2\n", ""},
		"above what is passed on":     {"a.service", "go1.26", unit + "PassEnvironment=GOMAXPROCS\nEnvironment=GOMAXPROCS=2\n", ""},
		"above another line":          {"a.service", "go1.26", unit + "Environment=GOMAXPROCS=1\nEnvironment=GOMAXPROCS=8\n", unit + "Environment=GOMAXPROCS=1\nEnvironment=GOMAXPROCS=2\n"},
		"a unit with another":         {"a.service", "go1.24", unit + "Environment=GOMAXPROCS=8 GOGC=50\n", ""},
		"a unit that is continued":    {"a.service", "go1.24", unit + "Environment=GOMAXPROCS=8 \\\n  GOGC=50\n", ""},
		"a quadlet":                   {"a.container", "", "[Container]\nImage=x\nPodmanArgs=--cpus=2\nEnvironment=GOMAXPROCS=500m\n", "[Container]\nImage=x\nPodmanArgs=--cpus=2\nEnvironment=GOMAXPROCS=2\n"},
		"what ENV does not run":       {"Dockerfile", "", image + "ENV GOMAXPROCS=$(nproc)\nCMD [\"/app\"]\n", image + "CMD [\"/app\"]\n"},
		"used by an image":            {"Dockerfile", "", image + "ENV GOMAXPROCS=$(nproc)\nENV WORKERS=${GOMAXPROCS:-2}\nCMD [\"/app\"]\n", ""},
		"used by its command":         {"Dockerfile", "", image + "ENV GOMAXPROCS=$(nproc)\nCMD /app --workers=$GOMAXPROCS\n", ""},
		"above a line of the image":   {"Dockerfile", "", image + "ENV GOMAXPROCS=4\nENV GOMAXPROCS=$(nproc)\nCMD [\"/app\"]\n", ""},
		"a number of an image":        {"Dockerfile", "", image + "ENV GOMAXPROCS=4\nCMD [\"/app\"]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must.Write(t, tc.file, tc.text)
			found := fixAll(t, &check.Programs{Default: check.Program{GoVersion: tc.version}})
			if found == 0 && name != "no limit" {
				t.Error("there is nothing to fix")
			}
			if got, want := must.Read(t, tc.file), cmp.Or(tc.want, tc.text); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
}

// fixAll writes the fixes of the current folder, and counts what is found in it before.
func fixAll(t *testing.T, programs *check.Programs) (found int) {
	t.Helper()
	fixer := check.Fixer{Least: rule.Info, Write: true, Check: func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		r, err := check.Run(ctx, check.Options{Paths: []string{"."}, Overlay: overlay, Checkers: []check.Checker{New(Options{Changes: true, Programs: programs})}})
		if found == 0 {
			found = len(r.Findings) + len(r.Ignored)
		}
		return r, err
	}}
	must.Get(fixer.Run(context.Background()))(t)
	return found
}

// TestSharedLines: a line stays that another file's service, or an instance of a template, has its value from.
func TestSharedLines(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"extended": {
			"common.yml": "services:\n  base:\n    image: acme/api\n    cpus: 2\n    environment:\n      A: b\n      GOMAXPROCS: 4\n",
			"web.yml":    "services:\n  big:\n    extends: {file: common.yml, service: base}\n    cpus: 4\n",
		},
		"of a template": {
			"api@.service":             "[Service]\nExecStart=/api\nCPUQuota=200%\nEnvironment=GOMAXPROCS=4\n",
			"api@big.service.d/q.conf": "[Service]\nCPUQuota=400%\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(written(t, files))
			if fixAll(t, &check.Programs{}) == 0 {
				t.Error("there is nothing to fix")
			}
			for file, want := range files {
				if got := must.Read(t, file); got != want {
					t.Errorf("%s\nwant\n%s", got, want)
				}
			}
		})
	}
}
