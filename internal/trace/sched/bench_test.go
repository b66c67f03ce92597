package sched

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// plainLog is what a Go 1.27 program of 8 Ps writes.
func plainLog(samples int) []byte {
	var b bytes.Buffer
	for i := range samples {
		fmt.Fprintf(&b, "SCHED %dms: gomaxprocs=8 idleprocs=%d threads=14 spinningthreads=%d needspinning=1 idlethreads=3 runqueue=%d [ %d 0 2 %d 0 0 1 14 ] schedticks=[",
			i*1000, i%3, i%2, i%40, i%200, i%9)
		for p := range 8 {
			fmt.Fprintf(&b, " %d", i*611+p*17)
		}
		b.WriteString(" ]\n")
	}
	return b.Bytes()
}

// detailLog is what it writes with scheddetail=1 and 200 goroutines.
func detailLog(samples int) []byte {
	var b bytes.Buffer
	for i := range samples {
		fmt.Fprintf(&b, "SCHED %dms: gomaxprocs=8 idleprocs=0 threads=14 spinningthreads=0 needspinning=1 idlethreads=3 runqueue=17 gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=false\n", i*1000)
		for p := range 8 {
			fmt.Fprintf(&b, "  P%d: status=1 schedtick=%d syscalltick=0 m=%d runqsize=%d gfreecnt=3 timerslen=1\n", p, i*611, p+2, i%7)
		}
		for m := 13; m >= 0; m-- {
			fmt.Fprintf(&b, "  M%d: p=%s curg=nil mallocing=0 throwing=0 preemptoff= locks=16 dying=0 spinning=false blocked=%t lockedg=nil\n", m, []string{"nil", "3"}[m%2], m%2 == 0)
		}
		for g := range 200 {
			fmt.Fprintf(&b, "  G%d: status=%s m=nil lockedm=nil\n", g+1, []string{"4(chan receive)", "4(select)", "1()", "4(sync.Mutex.Lock)"}[g%4])
		}
	}
	return b.Bytes()
}

// mixedLog has nineteen lines of other output for each sample.
func mixedLog(samples int) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(plainLog(samples)) {
		b.Write(line)
		b.WriteString(strings.Repeat("2026/01/02 15:04:05 INFO handled request id=12345 status=200 duration=1.2ms\n", 19))
	}
	return b.Bytes()
}

// restartLog is of a program that is started again after every 20 samples, which is
// 2 kB.
func restartLog(samples int) []byte { return bytes.Repeat(plainLog(20), samples/20) }

func BenchmarkScan(b *testing.B) {
	for name, log := range map[string][]byte{"plain": plainLog(20_000), "detail": detailLog(300), "mixed": mixedLog(2_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				s := NewScanner(bytes.NewReader(log))
				s.scan(func(*Sample) {})
				if n := s.skipped.Count; n > 0 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkAnalyse is the scan and what is added up.
func BenchmarkAnalyse(b *testing.B) {
	for name, log := range map[string][]byte{"plain": plainLog(20_000), "detail": detailLog(300), "restarts": restartLog(20_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				if s := analyse(bytes.NewReader(log)); s.Skipped.Count > 0 {
					b.Fatal(s.Skipped)
				}
			}
		})
	}
}
