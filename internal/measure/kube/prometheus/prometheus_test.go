package prometheus

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// What Prometheus 2 and 3 send.
const (
	oneSample  = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1764000000.123,"0.0123"]}]}}`
	noSample   = `{"status":"success","data":{"resultType":"vector","result":[]}}`
	twoSamples = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1,"1"]},{"metric":{"pod":"b"},"value":[1,"2"]}]}}`
	notANumber = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"NaN"]}]}}`
	infinite   = `{"status":"success","data":{"resultType":"scalar","result":[1,"+Inf"]}}`
	oneScalar  = `{"status":"success","data":{"resultType":"scalar","result":[1764000000,"42"]},"warnings":["w"]}`
	aMatrix    = `{"status":"success","data":{"resultType":"matrix","result":[]}}`
	native     = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{"count":"2","sum":"3","buckets":[[0,"0.5","1","2"]]}]}]}}`
	wrong      = `{"status":"error","errorType":"bad_data","error":"1:5: parse error: unexpected <\u001b>"}`
)

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		want    float64 // NaN: no value
		refused string
		broken  string
	}{
		"a sample":        {oneSample, 0.0123, "", ""},
		"none":            {noSample, math.NaN(), "", ""},
		"several":         {twoSamples, 0, "returns 2 series", ""},
		"no number":       {notANumber, math.NaN(), "", ""},
		"infinite":        {infinite, math.NaN(), "", ""},
		"a scalar":        {oneScalar, 42, "", ""},
		"a matrix":        {aMatrix, 0, "returns a matrix", ""},
		"a histogram":     {native, 0, "native histogram", ""},
		"a wrong query":   {wrong, 0, `bad_data: 1:5: parse error: unexpected <\x1b>`, ""},
		"a page":          {"<html>", 0, "", `the answer "<html>" is not from Prometheus`},
		"another's JSON":  {`{"a":1}`, 0, "", `status ""`},
		"half a vector":   {`{"status":"success","data":{"resultType":"vector","result":[{"value":[1]}]}}`, 0, "", "expected a vector"},
		"nothing of one":  {`{"status":"success","data":{"resultType":"vector","result":[null]}}`, 0, "", "expected a vector"},
		"an empty scalar": {`{"status":"success","data":{"resultType":"scalar","result":null}}`, 0, "", "expected a scalar"},
	} {
		got, err := decode([]byte(c.text))
		var refused *RefusedError
		switch {
		case c.refused != "":
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.refused) {
				t.Errorf("%s: %v, want a refusal %q", name, err, c.refused)
			}
		case c.broken != "":
			if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), c.broken) {
				t.Errorf("%s: %v, want %q", name, err, c.broken)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case math.IsNaN(c.want) != (got == nil) || got != nil && *got != c.want:
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{oneSample, noSample, twoSamples, notANumber, infinite, oneScalar, aMatrix, native, wrong, "", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decode(b); err != nil && v != nil || v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
			t.Errorf("%q: %v, %v", b, v, err)
		}
	})
}

func TestAsk(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.URL.Path != "/prom/api/v1/query" || r.FormValue("query") != `up{pod=~"a|b"}` || r.FormValue("time") != "12.500" || user != "me" || password != "secret" || r.Header.Get("X-Scope-OrgID") != "shop" {
			t.Errorf("asked %s %v %v", r.URL, r.Form, r.Header)
		}
		w.WriteHeader(status)
		if status == http.StatusOK {
			w.Write([]byte(oneSample))
		} else {
			w.Write([]byte("not here"))
		}
	}))
	defer server.Close()
	c := must.Get(New(strings.Replace(server.URL, "http://", "http://me:secret@", 1)+"/prom/", []string{"X-Scope-OrgID: shop"}))(t)
	at := time.UnixMilli(12500)
	if v, err := c.Ask(context.Background(), `up{pod=~"a|b"}`, at); err != nil || v == nil || *v != 0.0123 {
		t.Errorf("%v, %v", v, err)
	}
	status = http.StatusBadGateway
	if _, err := c.Ask(context.Background(), `up{pod=~"a|b"}`, at); err == nil || !strings.Contains(err.Error(), "status 502 Bad Gateway") {
		t.Errorf("502: %v", err)
	}
	server.Close()
	if _, err := c.Ask(context.Background(), `up`, at); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a server that is gone: %v", err)
	}
	for _, raw := range []string{"", "prometheus:9090", "ftp://x", "http://"} {
		if _, err := New(raw, nil); err == nil {
			t.Errorf("%q is taken for a URL", raw)
		}
	}
	if _, err := New("http://x", []string{"no colon"}); err == nil {
		t.Error("a header without a colon is taken")
	}
}
