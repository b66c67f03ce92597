package goproc

import "strings"

// sized are modules that take a size from GOMAXPROCS when the program starts, or when
// something long-lived is made, and what they size. In a running program it keeps that size
// when GOMAXPROCS changes. Read in their sources: fasthttp's workerpool.go and
// stackless/func.go, go-redis' options.go, pebble's internal/cache, compress' zstd options,
// netpoll's poll_manager.go, gopkg's lang/syncx and circuitbreaker.
var sized = []struct{ module, what string }{
	{"github.com/redis/go-redis", "connections of its pools"},
	{"github.com/go-redis/redis", "connections of its pools"},
	{"github.com/valyala/fasthttp", "workers of its compressors"},
	{"github.com/cockroachdb/pebble", "shards of its cache"},
	{"github.com/klauspost/compress", "concurrency of encoders that are kept"},
	{"github.com/VictoriaMetrics/VictoriaMetrics", "shards of its storage"},
	{"github.com/cloudwego/netpoll", "pollers"},
	{"github.com/bytedance/gopkg", "shards of its locks and counters"},
}

// SizedAtStart names the modules in the program that size something from GOMAXPROCS once, as
// "module (what)". Of modules that are not known it says nothing.
func (p Program) SizedAtStart() (list []string) {
	paths := []string{p.MainModule}
	for _, d := range p.Deps {
		paths = append(paths, d.Path)
	}
	for _, path := range paths {
		for _, s := range sized {
			if path == s.module || strings.HasPrefix(path, s.module+"/") {
				list = append(list, path+" ("+s.what+")")
			}
		}
	}
	return list
}
