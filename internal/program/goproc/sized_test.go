package goproc

import (
	"runtime/debug"
	"slices"
	"testing"
)

func TestSizedAtStart(t *testing.T) {
	p := Program{MainModule: "example.com/shop", Deps: []*debug.Module{
		{Path: "github.com/redis/go-redis/v9"}, {Path: "github.com/redis/go-redisx"}, {Path: "github.com/valyala/fasthttp"}, {Path: "golang.org/x/net"},
	}}
	want := []string{"github.com/redis/go-redis/v9 (connections of its pools)", "github.com/valyala/fasthttp (workers of its compressors)"}
	if got := p.SizedAtStart(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := (Program{MainModule: "github.com/VictoriaMetrics/VictoriaMetrics"}).SizedAtStart(); len(got) != 1 {
		t.Errorf("of the main module: %q", got)
	}
}
