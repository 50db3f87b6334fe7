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

	// Queues of members.
	movedNotRecounted
	lostMoveCounted
	movedLast
	moveBlocks
	stickyFirst
	waivedLookedUp
	recordOverwritten
	forcesOwn
	forcesUnseen
	forceNotSettled

	// Members that go down.
	noKickAfterDown
	downGranted
	dialsAllTheSame
	withdrawForgets
	withdrawReleasesFirst
	withdrawsPersisted
	claimsBlindly
	probeKept
	noKickWhenWell
	pauseNotArmed
	dueLeavesBlocked

	// Slow ramp.
	rampStartsLate
	rampOutsideBaton
	rampNotArmed
	noKickWhenDue
	stepLeavesBlocked
	clockGoesBack
	changeSkipsRamp

	// Pools that do not queue.
	noOwnSweep
	noLookAfterOwnSweep

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

	movedNotRecounted: {"who moves to the pool's queue stays in the member's count", []string{"offline"}},
	lostMoveCounted:   {"a move that lost to a leave is counted all the same", []string{"persist wait"}},
	movedLast:         {"who moves to the pool's queue gets a new ticket", []string{"offline"}},
	moveBlocks:        {"a head moves to its member's queue, those behind it count as blocked", []string{"record"}},
	stickyFirst:       {"a member's own queue goes before the pool's", []string{"two heads"}},
	waivedLookedUp:    {"who left its member's queue is looked up again", []string{"persist wait"}},
	recordOverwritten: {"a record is made without a look at the one there is", []string{"record"}},
	forcesOwn:         {"override takes the virtual server's token by force, too", []string{"override"}},
	forcesUnseen:      {"override takes below zero without setting strict", []string{"override"}},
	forceNotSettled:   {"strictness not looked at again after a token was taken by force", []string{"override leave"}},

	noKickAfterDown:       {"member down, no kick", []string{"offline"}},
	downGranted:           {"a member is not asked again when dequeuing", []string{"monitor"}},
	dialsAllTheSame:       {"granted, the member goes down, dialled all the same", []string{"monitor"}},
	withdrawForgets:       {"a grant is withdrawn, its slot kept", []string{"monitor"}},
	withdrawReleasesFirst: {"a grant is withdrawn, its slot released before the waiter is put back", []string{"monitor"}},
	withdrawsPersisted:    {"disabled counts as down for those persisted to it", []string{"disabled"}},
	dueLeavesBlocked:      {"a pass after the end of a pause, run for another reason, and the memos stay", []string{"probe"}},
	claimsBlindly:         {"a probe is claimed without looking again", []string{"probe"}},
	probeKept:             {"a probe's slot is released, the probe is not", []string{"probe"}},
	noKickWhenWell:        {"a member is well again, no kick", []string{"probe"}},
	pauseNotArmed:         {"nobody is armed for the end of a pause", []string{"probe"}},

	rampStartsLate:    {"a member is up before its ramp's first limit is in force", []string{"ramp"}},
	rampOutsideBaton:  {"a ramp's limit put into force by the operator itself", []string{"ramp debt"}},
	rampNotArmed:      {"nobody is armed for the ramp's next step", []string{"ramp"}},
	noKickWhenDue:     {"a step of the ramp is due, no kick", []string{"ramp"}},
	stepLeavesBlocked: {"a pass puts a step into force, and the blocked memos stay", []string{"ramp leave"}},
	clockGoesBack:     {"a pass trusts its loop's time, older than that of the last pass", []string{"ramp"}},
	changeSkipsRamp:   {"a changed limit is in force without the ramp", []string{"ramp change"}},

	noOwnSweep:          {"refused without a sweep", []string{"no queue"}},
	noLookAfterOwnSweep: {"no look after a loop's own sweep", []string{"no queue node"}},
}

func (f fault) String() string { return seeds[f].name }
