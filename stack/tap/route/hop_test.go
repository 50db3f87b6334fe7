package route

import (
	"testing"

	"penstock/stack/tap/frame"
)

// Who answers is known, and used until it is confirmed half a minute later.
func TestAnswered(t *testing.T) {
	r, n := one(t)
	is(t, r, n, 0, frame.MAC{}, false)
	if due := asks(t, r, n, 0, frame.Broadcast); due != 250*ms {
		t.Error(due)
	}
	r.Heard(&server, host, ms)
	is(t, r, n, ms, host, false)
	if due := quiet(t, r, n, 2*ms); due != 30*second+ms {
		t.Error(due)
	}
	at := 30*second + ms
	asks(t, r, n, at, host)
	is(t, r, n, at, host, false)
	quiet(t, r, n, at+249*ms)
	asks(t, r, n, at+250*ms, host)
	r.Heard(&server, host, at+251*ms)
	quiet(t, r, n, at+30*second)
	asks(t, r, n, at+30*second+251*ms, host)
}

// Who does not answer is asked three times, has failed, and is asked each second.
func TestSilent(t *testing.T) {
	r, n := one(t)
	now := second
	for range 2 {
		if due := asks(t, r, n, now, frame.Broadcast); due != now+250*ms {
			t.Error(due)
		}
		now += 250 * ms
		is(t, r, n, now, frame.MAC{}, false)
	}
	if due := asks(t, r, n, now, frame.Broadcast); due != now+250*ms { // to see it fail
		t.Error(due)
	}
	is(t, r, n, now+249*ms, frame.MAC{}, false)
	is(t, r, n, now+250*ms, frame.MAC{}, true)
	if due := quiet(t, r, n, now+250*ms); due != now+second {
		t.Error(due)
	}
	for range 10 {
		now += second
		if due := asks(t, r, n, now, frame.Broadcast); due != now+second {
			t.Error(due)
		}
		is(t, r, n, now, frame.MAC{}, true)
	}
	r.Heard(&server, host, now)
	is(t, r, n, now, host, false)
}

// Who was asked long ago and did not answer is not failed when it is wanted
// again, but asked as if for the first time.
func TestForgotten(t *testing.T) {
	r, n := one(t)
	for i := range int64(4) {
		r.Ask(n, i*second, nil)
	}
	is(t, r, n, 4*second, frame.MAC{}, true)
	now := 8 * second
	if due := asks(t, r, n, now, frame.Broadcast); due != now+250*ms {
		t.Error(due)
	}
	is(t, r, n, now, frame.MAC{}, false)
}

// An address that nobody confirms is used until three have been asked by
// unicast; then all are asked.
func TestGone(t *testing.T) {
	r, n := one(t)
	r.Heard(&server, host, 0)
	now := 100 * second
	for range 3 {
		asks(t, r, n, now, host)
		is(t, r, n, now+249*ms, host, false)
		now += 250 * ms
	}
	is(t, r, n, now, host, false)
	for range 2 {
		asks(t, r, n, now, frame.Broadcast)
		is(t, r, n, now, frame.MAC{}, false)
		now += 250 * ms
	}
	r.Heard(&server, next, now)
	is(t, r, n, now, next, false)
	quiet(t, r, n, now+29*second)
}

// A question that nobody cared to repeat does not count the next time.
func TestConfirmedLate(t *testing.T) {
	r, n := one(t)
	r.Heard(&server, host, 0)
	asks(t, r, n, 40*second, host)
	asks(t, r, n, 41*second, host)
	for i := range int64(3) {
		asks(t, r, n, 400*second+i*250*ms, host)
		is(t, r, n, 400*second+i*250*ms, host, false)
	}
	r.Heard(&server, host, 400*second+501*ms)
	is(t, r, n, 401*second, host, false)
}

// Where somebody does not answer, it is asked at once whether it still is there,
// but not more often than each second.
func TestDoubt(t *testing.T) {
	r, n := one(t)
	r.Doubt(n, 0) // nothing is known: no harm
	r.Heard(&server, host, 10*second)
	r.Doubt(n, 10*second+500*ms)
	quiet(t, r, n, 10*second+999*ms)
	asks(t, r, n, 11*second, host)
	r.Doubt(n, 11*second+1)
	quiet(t, r, n, 11*second+249*ms)
	r.Heard(&server, host, 11*second+249*ms)
	quiet(t, r, n, 20*second)
	r.Doubt(n, 20*second)
	asks(t, r, n, 20*second, host)
	r.Doubt(99, 0)
}
