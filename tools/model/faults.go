package main

// fault is a mistake put into the protocol on purpose. A checker that lets
// one through checks nothing, so the command fails then.
type fault uint8

const (
	noFault fault = iota
	noRecheck
	noSweep
	noKickOnRelease
	noLookAfterLease
	noLookAfterDetour
	noKickAfterRaise
	noKickAfterUp
	noKickAfterLeave
	noKickAfterPark
	kickBeforePush
	shardWhileStrict
	lowerWithoutBaton
	lookBeforeDeposit
	sweepOnceOnly
	sweepNotAsked
	noSecondLook
	letGoForgetsLatch
	blockedForever
	mixedQueue
	deadHeadTried
	noClearWaiting
	drainOnce
	rollBackForgets
	grantWithoutTaking
	grantWithoutCAS
	lostGrantKeeps
	deadGrantKeeps
	failedDialNoKick
	requeueNewTicket
	expireWithoutCAS
	newcomerOvertakes
	leaseForgotten
	faults
)

// seeds names every fault and the scenarios of which one must catch it.
var seeds = [faults]struct {
	name string
	in   []string
}{
	noRecheck:          {"flag set, but neither swept nor tried again after it", []string{"pair"}},
	noSweep:            {"tried again after setting the flag, but without the sweep", []string{"pair"}},
	noKickOnRelease:    {"release does not look at the flags", []string{"pair"}},
	noLookAfterLease:   {"no look after the rest of a lease went into the shard", []string{"lease"}},
	noLookAfterDetour:  {"no look when one member was given back and the next one taken", []string{"detour"}},
	noKickAfterRaise:   {"limit raised, no kick", []string{"raise"}},
	noKickAfterUp:      {"member up, no kick", []string{"member up"}},
	noKickAfterLeave:   {"a waiter left, no kick", []string{"leave"}},
	noKickAfterPark:    {"a waiter parked, no kick", []string{"pair"}},
	kickBeforePush:     {"the kick comes before the push", []string{"pair"}},
	shardWhileStrict:   {"taken from the shard of a strict counter", []string{"lower"}},
	lowerWithoutBaton:  {"limit lowered by the operator itself, not by the holder", []string{"lower"}},
	lookBeforeDeposit:  {"the flags looked at before the token is back", []string{"pair"}},
	sweepOnceOnly:      {"SWEEP ignored while the flag is set already", []string{"pair", "lease"}},
	sweepNotAsked:      {"a token went into a shard, but only CAPACITY is latched", []string{"pair"}},
	noSecondLook:       {"the holder does not look at the latch after letting go", []string{"pair"}},
	letGoForgetsLatch:  {"letting go clears the latch too", []string{"pair"}},
	blockedForever:     {"CAPACITY does not clear the blocked memo", []string{"pair"}},
	mixedQueue:         {"waiters refused by different members in one queue, with one memo", []string{"excluded"}},
	deadHeadTried:      {"a waiter that becomes the head in the pass is not checked", []string{"leave"}},
	noClearWaiting:     {"no waiters left, WAITING stays set", []string{"pair"}},
	drainOnce:          {"one round over the rings instead of rounds until one is empty", []string{"order"}},
	rollBackForgets:    {"the roll-back of half a path forgets a level", []string{"whole path"}},
	grantWithoutTaking: {"a waiter is granted a slot that was not taken", []string{"pair"}},
	grantWithoutCAS:    {"grant stores instead of compare-and-swap", []string{"leave"}},
	lostGrantKeeps:     {"the grant lost to a leave, the tokens are kept", []string{"leave"}},
	deadGrantKeeps:     {"granted to a client that left, the slot is kept", []string{"leave"}},
	failedDialNoKick:   {"failed dial releases, then requeues, then does not kick", []string{"redial"}},
	requeueNewTicket:   {"failed dial requeues with a new ticket", []string{"redial"}},
	expireWithoutCAS:   {"expire stores instead of compare-and-swap", []string{"expiry"}},
	newcomerOvertakes:  {"a newcomer does not look at the pool's flag", []string{"pair"}},
	leaseForgotten:     {"the rest of a lease is not put into the shard", []string{"lease"}},
}

func (f fault) String() string { return seeds[f].name }
