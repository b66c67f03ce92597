package archive

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/procfit/procfit/internal/check/binary/binarytest"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

var (
	old   = string(binarytest.Program{GoVersion: "go1.24.6", Module: "example.com/old"}.Bytes())
	young = string(binarytest.Program{GoVersion: "go1.26.1", Module: "example.com/young", GODEBUG: "containermaxprocs=0"}.Bytes())
)

// read reads an archive from memory.
func read(t testing.TB, b []byte, limits Limits) (Content, error) {
	t.Helper()
	return Read(context.Background(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, limits)
}

// shown are programs in short: "/app go1.26.1".
func shown(all []Program) string {
	return strings.Join(phrase.Each(all, func(p Program) string { return p.Path + " " + p.GoVersion }), ", ")
}

func faults(c Content) string {
	return strings.Join(phrase.Each(c.Faults, Fault.String), "\n")
}

func zstdOf(t testing.TB, b []byte) []byte {
	w := must.Get(zstd.NewWriter(nil))(t)
	return w.EncodeAll(b, nil)
}

func TestPlainArchive(t *testing.T) {
	b := binarytest.Tar(t, [2]string{"dist/", ""}, [2]string{"dist/api", young}, [2]string{"dist/tool", old},
		[2]string{"dist/again", "=> dist/tool"}, [2]string{"dist/link", "-> tool"}, [2]string{"README", "words"}, [2]string{"lib.so", "\x7fELF nothing"})
	for name, b := range map[string][]byte{"tar": b, "gzip": binarytest.Gzip(t, b), "zstd": zstdOf(t, b)} {
		c, err := read(t, b, DefaultLimits())
		if err != nil || shown(c.Programs) != "/dist/again go1.24.6, /dist/api go1.26.1, /dist/tool go1.24.6" || len(c.Images) > 0 || len(c.Faults) > 0 {
			t.Errorf("%s: %+v, %v", name, c, err)
		} else if p := c.Programs[1]; p.Module != "example.com/young" || p.DefaultGODEBUG != "containermaxprocs=0" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestLayers lays layers on one another: what a container sees is what counts.
func TestLayers(t *testing.T) {
	type entries = [][2]string
	for name, tc := range map[string]struct {
		layers []entries
		want   string
	}{
		"one":                     {[]entries{{{"app", young}}}, "/app go1.26.1"},
		"a later one counts":      {[]entries{{{"app", old}}, {{"./app", young}}}, "/app go1.26.1"},
		"a whiteout":              {[]entries{{{"bin/app", old}}, {{"bin/.wh.app", ""}}}, ""},
		"of a folder":             {[]entries{{{"opt/x/bin/app", old}}, {{"opt/.wh.x", ""}}}, ""},
		"and written anew":        {[]entries{{{"opt/app", old}}, {{"opt/.wh.app", ""}, {"opt/app", young}}}, "/opt/app go1.26.1"},
		"an opaque folder":        {[]entries{{{"opt/app", old}, {"usr/app", old}}, {{"opt/", ""}, {"opt/.wh..wh..opq", ""}, {"opt/other", young}}}, "/opt/other go1.26.1, /usr/app go1.24.6"},
		"an opaque root":          {[]entries{{{"opt/app", old}}, {{".wh..wh..opq", ""}}}, ""},
		"only of layers below":    {[]entries{{{"opt/.wh.app", ""}}, {{"opt/app", old}}}, "/opt/app go1.24.6"},
		"replaced by a script":    {[]entries{{{"app", old}}, {{"app", "#!/bin/sh"}}}, ""},
		"replaced by a link":      {[]entries{{{"app", old}}, {{"app", "-> /bin/sh"}}}, ""},
		"replaced by a folder":    {[]entries{{{"app", old}}, {{"app/", ""}}}, ""},
		"under a file":            {[]entries{{{"opt/app", old}}, {{"opt", "text"}}}, ""},
		"under a folder again":    {[]entries{{{"opt/app", old}}, {{"opt/", ""}}}, "/opt/app go1.24.6"},
		"a hard link from below":  {[]entries{{{"app", old}}, {{"other", "=> app"}, {".wh.app", ""}}}, "/other go1.24.6"},
		"twice in a layer":        {[]entries{{{"app", old}, {"app", "text"}}}, ""},
		"a whiteout of another":   {[]entries{{{"app", old}}, {{".wh.ap", ""}}}, "/app go1.24.6"},
		"three, and one is empty": {[]entries{{{"app", old}}, {}, {{"lib/app", young}}}, "/app go1.24.6, /lib/app go1.26.1"},
	} {
		var layers [][]byte
		for i, l := range tc.layers {
			b := binarytest.Tar(t, l...)
			switch i % 3 {
			case 0:
				b = binarytest.Gzip(t, b)
			case 1:
				b = zstdOf(t, b)
			}
			layers = append(layers, b)
		}
		c, err := read(t, binarytest.Image(t, "acme/api:1", `{}`, layers...), DefaultLimits())
		if err != nil || len(c.Images) != 1 || len(c.Faults) > 0 {
			t.Errorf("%s: %+v, %v", name, c, err)
		} else if got := shown(c.Images[0].Programs); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestStarted finds the program that an image starts.
func TestStarted(t *testing.T) {
	layer := binarytest.Tar(t, [2]string{"usr/bin/app", young}, [2]string{"usr/bin/tool", old}, [2]string{"bin", "-> usr/bin"},
		[2]string{"entry", "-> loop"}, [2]string{"loop", "-> entry"}, [2]string{"srv", "-> /bin/../bin/app"}, [2]string{"usr/bin/gosu", old}, [2]string{"usr/bin/tini", "\x7fELF"},
		[2]string{"go-runner", old}, [2]string{"usr/bin/chamber", old}, [2]string{"cnb/lifecycle/launcher", old}, [2]string{"cnb/process/web", "-> ../lifecycle/launcher"})
	for config, want := range map[string]string{
		`{"Entrypoint":["/usr/bin/app"]}`:                              "/usr/bin/app",
		`{"Entrypoint":["/bin/app"]}`:                                  "/usr/bin/app",
		`{"Entrypoint":["/srv"]}`:                                      "/usr/bin/app",
		`{"Cmd":["app","serve"]}`:                                      "/usr/bin/app",
		`{"Cmd":["app"],"Env":["PATH=/opt"]}`:                          "",
		`{"Cmd":["./app"],"WorkingDir":"/usr/bin"}`:                    "/usr/bin/app",
		`{"Entrypoint":["tini","--"],"Cmd":["/usr/bin/tool"]}`:         "/usr/bin/tool",
		`{"Entrypoint":["/bin/sh","-c"],"Cmd":["exec app --flag"]}`:    "/usr/bin/app",
		`{"Entrypoint":["gosu","nobody","app"]}`:                       "/usr/bin/app",
		`{"Entrypoint":["chamber","exec","x","--","/usr/bin/app"]}`:    "/usr/bin/app",
		`{"Entrypoint":["/go-runner"],"Cmd":["--flush","bin/app"]}`:    "/usr/bin/app",
		`{"Entrypoint":["/cnb/process/web"]}`:                          "", // it may be either
		`{"Entrypoint":["/entry"]}`:                                    "",
		`{"Entrypoint":["/bin/sh"]}`:                                   "",
		`{"Entrypoint":["/usr/bin/app"],"Env":["GOMAXPROCS=4","A=B"]}`: "/usr/bin/app",
	} {
		c, err := read(t, binarytest.Image(t, "acme/api:1", `{"os":"linux","architecture":"amd64","config":`+config+`}`, layer), DefaultLimits())
		if err != nil || len(c.Images) != 1 {
			t.Fatal(c, err)
		}
		i, got := c.Images[0], ""
		if i.Main >= 0 {
			got = i.Programs[i.Main].Path
		}
		if got != want || i.Platform != "linux/amd64" || i.Names[0] != "acme/api:1" {
			t.Errorf("%s: %q, want %q; %+v", config, got, want, i)
		}
	}
}

// TestOnlyProgram: the only Go program of an image is what a script or nothing else may start, and not
// what a command leaves out.
func TestOnlyProgram(t *testing.T) {
	for _, tc := range []struct {
		file, config string
		starts       bool
	}{
		{"app", `{}`, true},
		{"app", `{"Entrypoint":["/entrypoint.sh"],"Cmd":["serve"]}`, true},
		{"app", `{"Entrypoint":["tini","--","sh","-c","$START"]}`, true},
		{"grpc_health_probe", `{"Entrypoint":["java","-jar","/app.jar"]}`, false},
		{"grpc_health_probe", `{"Entrypoint":["/usr/bin/dumb-init","--"],"Cmd":["java"]}`, false},
		{"grpc_health_probe", `{"Entrypoint":["/bin/sh","-c","java $JAVA_OPTS -jar /app.jar"]}`, false},
		{"grpc_health_probe", `{"Entrypoint":["tini","--","bash","-ec","TZ=UTC exec java -jar /app.jar"]}`, false},
		{"app", `{"Entrypoint":["sh","-c","$START --port 80"]}`, true},
		{"app", `{"Entrypoint":["sh","-c","exec /start.sh"]}`, true},
		{"app", `{"Entrypoint":["sh","-c","sh /start"]}`, true},
		{"app", `{"Entrypoint":["sh","-c",". /env && $APP"]}`, true},
		{"app", `{"Entrypoint":["sh","-c","eval $APP"]}`, true},
		{"app", `{"Entrypoint":["sh","-c","exec \"$@\"","--"],"Cmd":["x"]}`, true},
		{"app", `{"Entrypoint":["sh","-c","/start"]}`, true},
		{"app", `{"Entrypoint":["/start"]}`, true},
		{"app", `{"Entrypoint":["./start"],"WorkingDir":"/srv"}`, true},
		{"app", `{"Cmd":["serve"]}`, true},
		{"grpc_health_probe", `{"Entrypoint":["sh","-c","exec /usr/bin/java -jar /app.jar"]}`, false},
		{"grpc_health_probe", `{"Entrypoint":["/opt/java"]}`, false},
		{"grpc_health_probe", `{"Entrypoint":["java2"],"Env":["PATH=/opt"]}`, false},
		{"grpc_health_probe", `{"Cmd":["gunicorn","app:main"]}`, false},
		{"gosu", `{"Entrypoint":["docker-entrypoint.sh"],"Cmd":["postgres"]}`, false},
		{"app", `{"Entrypoint":["/cnb/process/web"]}`, true},
		{"chamber", `{"Entrypoint":["/cnb/process/web"]}`, false}, // of a program of node
	} {
		c, err := read(t, binarytest.Image(t, "acme/api:1", `{"config":`+tc.config+`}`, binarytest.Tar(t, [2]string{"bin/" + tc.file, old}, [2]string{"cnb/lifecycle/launcher", old}, [2]string{"cnb/process/web", "-> ../lifecycle/launcher"},
			[2]string{"layers/ca-certificates/helper/helper", old},
			[2]string{"usr/bin/java", "\x7fELF"}, [2]string{"opt/java", "-> ../usr/bin/java"}, [2]string{"usr/bin/serve", "#!/bin/sh\napp\n"}, [2]string{"usr/bin/gunicorn", "#!/usr/bin/env python3\n"})), DefaultLimits())
		if err != nil || len(c.Images) != 1 {
			t.Fatal(c, err)
		}
		if i := c.Images[0]; i.MayStart(0) != tc.starts || (i.Main == 0) != tc.starts {
			t.Errorf("%s, %s: it is %d, which it may start: %v; want %v", tc.file, tc.config, i.Main, i.MayStart(0), tc.starts)
		}
	}
}
