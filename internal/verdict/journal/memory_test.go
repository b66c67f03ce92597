package journal

import (
	"reflect"
	"testing"
)

func TestAddMemory(t *testing.T) {
	m := Memory{}
	m.Add(Memory{RSSBytes: new(int64(3)), PeakRSSBytes: 5})
	m.Add(Memory{RSSBytes: new(int64(4)), PeakRSSBytes: 6})
	m.Add(Memory{PeakRSSBytes: 1})
	if !reflect.DeepEqual(m, Memory{RSSBytes: new(int64(7)), PeakRSSBytes: 12}) {
		t.Errorf("%+v", m)
	}
}

func TestAddGC(t *testing.T) {
	one := GC{Cycles: 2, PauseSeconds: 0.5, HeapBytes: 7, CPUSeconds: new(1.0), BusySeconds: new(4.0), SpanSeconds: 3}
	var sum GC
	sum.Add(one)
	sum.Add(one)
	if !reflect.DeepEqual(sum, GC{Cycles: 4, PauseSeconds: 1, HeapBytes: 14, CPUSeconds: new(2.0), BusySeconds: new(8.0), SpanSeconds: 6}) {
		t.Errorf("%+v", sum)
	}
	if sum.Add(GC{Cycles: 1, SpanSeconds: 1}); sum.CPUSeconds != nil || sum.BusySeconds != nil || sum.Cycles != 5 {
		t.Errorf("of one the times are not known, and of all they are: %+v", sum)
	}
	if sum.Add(one); sum.CPUSeconds != nil {
		t.Errorf("what is not known is told: %+v", sum)
	}
	if *one.CPUSeconds != 1 {
		t.Error("what was added has changed")
	}
}
