// A service as many in a cluster are: each request reads an order as JSON, computes its
// total and answers with the order, priced, as JSON. It takes about a millisecond of CPU
// time and allocates, so that the garbage collector runs all the time, with as many workers
// as GOMAXPROCS gives it. Without a body it prices an order of its own.
package requests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

type item struct {
	Name  string            `json:"name"`
	Count int               `json:"count"`
	Cents int               `json:"cents"`
	Tags  map[string]string `json:"tags"`
}

type order struct {
	Items []item `json:"items"`
	Total int    `json:"total_cents"`
}

// example is an order of that many items.
func example(items int) []byte {
	var o order
	for i := 0; i < items; i++ {
		o.Items = append(o.Items, item{fmt.Sprintf("item %d", i), i%7 + 1, 100 + i, map[string]string{"color": "blue", "shelf": fmt.Sprint(i % 13)}})
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // nothing in it cannot be written
	}
	return b
}

// price answers an order with its total.
func price(text []byte) ([]byte, error) {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("the order is not valid JSON: %w", err)
	}
	o.Total = 0
	for _, one := range o.Items {
		o.Total += one.Count * one.Cents
	}
	return json.Marshal(o)
}

func Program(*log.Logger) (http.Handler, func(), error) {
	own := example(100)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if len(bytes.TrimSpace(text)) == 0 {
			text = own
		}
		var answer []byte
		if err == nil {
			answer, err = price(text)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}), nil, nil
}

func main() { harness.Server("requests", "127.0.0.1:8080", Program) }
