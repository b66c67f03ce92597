package journal

import (
	"encoding/json"
	"strings"
)

// The first version has one host, warnings that are sentences, and no codes. What
// follows is all that is known of it; it will not change any more.

// headerV1 is the header of a v1, in both directions.
type headerV1 struct {
	Header
	Host       Host      `json:"host"`
	TargetHost *struct{} `json:"target_host,omitempty"` // hides the Header's
	LoadHost   *struct{} `json:"load_host,omitempty"`
}

func readHeaderV1(raw []byte) (Header, error) {
	var v headerV1
	if err := unmarshal(raw, &v); err != nil {
		return Header{}, err
	}
	h := v.Header
	h.TargetHost = v.Host
	if h.Load.SameMachine {
		h.LoadHost = &v.Host
	}
	return h, nil
}

// trialV1 is a trial of a v1, in both directions.
type trialV1 struct {
	Trial
	Warnings []string `json:"warnings"`
}

// hungV1 is how a v1 says that a program outlasted --trial-timeout.
const hungV1 = "did not end within"

func readTrialV1(raw []byte) (Trial, error) {
	var v trialV1
	if err := unmarshal(raw, &v); err != nil {
		return Trial{}, err
	}
	t := v.Trial
	for _, text := range v.Warnings {
		t.Warnings = append(t.Warnings, warningV1(text))
	}
	if t.InvalidCode == "" && strings.HasPrefix(t.InvalidReason, hungV1) {
		t.InvalidCode = InvalidTimeout
	}
	return t, nil
}

// warningV1 is a sentence, or what writeTrialV1 made of a code.
func warningV1(text string) Warning {
	var w Warning
	if strings.HasPrefix(text, `{"code":`) && json.Unmarshal([]byte(text), &w) == nil && w.Code != "" {
		return w
	}
	return Warning{Code: WarnLegacy, Detail: text}
}

// asTrialV1 is a trial for a v1 that is gone on with. Its warnings, which were made
// as codes, stand there as JSON.
func asTrialV1(t Trial) (trialV1, error) {
	v := trialV1{Trial: t, Warnings: []string{}}
	for _, w := range t.Warnings {
		text, err := json.Marshal(w)
		if err != nil {
			return v, err
		}
		v.Warnings = append(v.Warnings, string(text))
	}
	return v, nil
}
