package scripts

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/procfit/procfit/internal/program/observe"
)

// fakePod is the last pod of a query, by its number in its run.
var fakePod = regexp.MustCompile(`procfit-[a-z0-9]+-(\d+)"`)

// fakePrometheus (fakeprom PORT) answers queries until it is interrupted: a query that
// holds "wrong" is refused, and of the others the first pod of a run has 10, of "alike"
// all have, of "idle" none, and every further pod has 8, of "harmful" 20. A query of no pod,
// as of a live experiment, has a value if it holds "alike", or if it holds "harm": 10 while the
// program whose PID is in the file server has the GOMAXPROCS 2, and else 20.
func fakePrometheus() {
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	must(err)
	var asked atomic.Int64
	program := new(observe.Reader)
	answer := func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		has := func(word string) bool { return regexp.MustCompile(word).MatchString(query) }
		value := 10 + float64(asked.Add(1)%3)/100
		pod := fakePod.FindStringSubmatch(query)
		switch {
		case has("wrong"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"unexpected end of input"}`)
			return
		case pod == nil && has("alike"):
		case pod == nil && has("harm"):
			if live, err := program.Live(tried()); err != nil || live.Procs != 2 {
				value *= 2
			}
		case pod == nil:
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
			return
		case has("idle"):
			value = 0
		case has("alike") || pod[1] == "1":
		case has("harmful"):
			value *= 2
		default:
			value *= 0.8
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"%g"]}]}}`, value)
	}
	serve(l, http.HandlerFunc(answer))
}

// tried is the program that a live experiment is about.
func tried() int {
	b, _ := os.ReadFile("server")
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}
